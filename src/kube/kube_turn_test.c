/* Calls that wait for their turn. Nobody listens at the server's address. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/kube.h"

struct answer {
	struct loop *loop;
	int code;
	char message[256];
};

static void keep(void *cookie, const struct outcome *o, yyjson_val *val)
{
	struct answer *a = cookie;

	assert_null(val);
	a->code = o->code;
	snprintf(a->message, sizeof(a->message), "%.*s", STR_F(o->message));
	loop_stop(a->loop);
}

static void ignore(void *cookie)
{
	(void)cookie;
}

static void send(struct kube *k, struct answer *a, msec timeout)
{
	struct kube_raw r = {
		.method = HTTP_GET, .path = STR("/version"), .timeout = timeout, .done = keep, .cookie = a
	};

	kube_raw(k, &r);
}

/* A leader's requests must end before its lease does, whatever they wait for. */
static void test_not_sent_after_its_time(void **state)
{
	struct loop *l = loop_new();
	struct kube_config c = { .server = { .url = STR("http://127.0.0.1:1"), .proxy = STR("-") } };
	struct kube_options o = { .connections = 1,
		                  .qps = 1,
		                  .burst = 1,
		                  .request_timeout = SECONDS(30),
		                  .user_agent = STR("test"),
		                  .wake = ignore };
	struct answer first = { .loop = l }, second = { .loop = l };
	struct err e = ERR_INIT;
	struct kube *k = kube_new(l, &c, &o, &e);

	(void)state;
	assert_non_null(k);
	send(k, &first, SECONDS(30));
	send(k, &second, 10);
	loop_run(l);
	assert_non_null(strstr(first.message, "onnect"));
	assert_string_equal(second.message, "");
	loop_run(l);
	assert_int_equal(second.code, 0);
	assert_string_equal(second.message, "timed out waiting for its turn");
	kube_free(k);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_sent_after_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
