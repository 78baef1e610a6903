/* Whoever asks by TLS; the rest of the service is tested by its user, the local API. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/service.h"
#include "http/testing_tls.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static struct http_service *service;
static int peers, undelayed;

/* The descriptor of this process is a connection of somebody to the service. */
static bool is_peer(int fd)
{
	struct sockaddr_in here = { 0 }, there;
	socklen_t n = sizeof(here), m = sizeof(there);

	return getsockname(fd, (struct sockaddr *)&here, &n) == 0 && here.sin_family == AF_INET &&
	       ntohs(here.sin_port) == http_service_port(service) &&
	       getpeername(fd, (struct sockaddr *)&there, &m) == 0;
}

static void look_at_peers(void)
{
	int value;

	for (int fd = 0; fd < 1024; fd++) {
		socklen_t n = sizeof(value);

		if (!is_peer(fd))
			continue;
		peers++;
		undelayed += getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &n) == 0 && value != 0;
	}
}

static bool admit(void *cookie, struct http_exchange *x, const struct http_service_request *q)
{
	(void)cookie, (void)x, (void)q;
	look_at_peers();
	return true;
}

static void handle(void *cookie, struct http_exchange *x, const struct http_service_request *q)
{
	struct buf b = BUF_INIT(64);

	(void)cookie;
	buf_put(&b, q->path);
	http_answer(x, 200, "text/plain", &b);
}

static void too_large(void *cookie, struct http_exchange *x)
{
	struct buf b = BUF_INIT(64);

	(void)cookie;
	http_answer(x, 413, "text/plain", &b);
}

static int setup(void **state)
{
	struct err e = ERR_INIT;

	testing_setup(state);
	peers = undelayed = 0;
	service = http_service_new(&(struct http_service_config){ .loop = testing_loop,
	                                                          .key = testing_pem("address", "key"),
	                                                          .cert = testing_pem("address", "pem"),
	                                                          .body_max = 64,
	                                                          .admit = admit,
	                                                          .handle = handle,
	                                                          .too_large = too_large },
	                           &e);
	if (!service)
		BUG("%s", err_msg(&e));
	return 0;
}

static int teardown(void **state)
{
	http_client_free(testing_client);
	testing_client = NULL;
	http_service_free(service);
	return testing_teardown(state);
}

/* An answer never waits until the other side has acknowledged the piece before it, the first one of a connection
   neither: that is 40 ms. */
static void test_nothing_waits_for_acknowledgements(void **state)
{
	char url[64];
	struct fetch f;

	(void)state;
	snprintf(url, sizeof(url), "https://127.0.0.1:%d", http_service_port(service));
	testing_connect_to(&(struct http_server){ .url = str_c(url), .ca = testing_pem("ca", "pem") }, 1);
	testing_get(&f, "/here");
	assert_int_equal(f.status, 200);
	assert_string_equal(f.body.p, "/here");
	fetch_release(&f);
	assert_int_equal(peers, 1);
	assert_int_equal(undelayed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_waits_for_acknowledgements, setup, teardown),
	};

	return cmocka_run_group_tests(tests, testing_certificates, testing_remove_certificates);
}
