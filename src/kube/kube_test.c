/* The client as a whole, against a small server: what its lists and watches tell. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/testing.h"
#include "kube/kube.h"

#include <unistd.h>

/* What the server answers to whom: the first line whose beginning fits. */
struct reply {
	const char *path; /* of the request's head */
	int status;
	const char *body;
};
static const struct reply *replies;

static void serve_replies(int listener)
{
	struct buf body = BUF_INIT(1 << 20);
	char head[TESTING_HEAD];

	for (;;) {
		int fd = testing_accept(listener);
		const struct reply *r = replies;

		if (testing_read(fd, head, &body)) {
			while (r->path && strncmp(head + 4, r->path, strlen(r->path)) != 0)
				r++;
			testing_answer(fd, r->path ? r->status : 404, "Connection: close\r\n",
			               str_c(r->path ? r->body : ""));
		}
		close(fd);
	}
}

#define EMPTY_LIST "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}"

struct seen {
	struct kube *kube;
	struct {
		bool watch;
		int code;
		int n;
	} asked[16];
	int kinds;
	int lists_refused, watches_refused; /* 403, as trouble */
	bool (*enough)(struct seen *s);
};

static int times(const struct seen *s, bool watch, int code)
{
	for (size_t i = 0; i < ARRAY_LEN(s->asked) && s->asked[i].n; i++)
		if (s->asked[i].watch == watch && s->asked[i].code == code)
			return s->asked[i].n;
	return 0;
}

static void look(struct seen *s)
{
	if (s->enough(s))
		testing_enough();
}

static void on_wake(void *cookie)
{
	look(cookie);
}

static void on_asked(void *cookie, bool watch, int code, msec took)
{
	struct seen *s = cookie;
	size_t i = 0;

	assert_true(took >= 0);
	while (s->asked[i].n && (s->asked[i].watch != watch || s->asked[i].code != code))
		i++;
	assert_true(i < ARRAY_LEN(s->asked));
	s->asked[i].watch = watch;
	s->asked[i].code = code;
	s->asked[i].n++;
	look(s);
}

static void on_trouble(void *cookie, enum resource resource, struct str kind, bool list, int code, struct str message)
{
	struct seen *s = cookie;

	(void)kind;
	(void)message;
	if (code != 403 || resource == RES_JOB)
		return;
	assert_int_equal(resource, list ? RES_SERVICE : RES_POD);
	s->lists_refused += list;
	s->watches_refused += !list;
	look(s);
}

/* Runs until it has seen enough. */
static void run(struct seen *s, const struct reply *r, bool (*enough)(struct seen *s))
{
	struct kube_options o = { .connections = 1,
		                  .request_timeout = SECONDS(50),
		                  .wake = on_wake,
		                  .asked = on_asked,
		                  .trouble = on_trouble };
	struct kube_config c = { 0 };
	struct err e = ERR_INIT;
	char url[64];

	replies = r;
	s->enough = enough;
	o.cookie = s;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", testing_serve(serve_replies));
	c.server = (struct http_server){ .url = str_c(url), .proxy = STR("-") };
	s->kube = kube_new(testing_loop, &c, &o, &e);
	assert_non_null(s->kube);
	testing_wait(1);
	kube_free(s->kube);
}

static bool both_watches(struct seen *s)
{
	return times(s, true, 403) && times(s, true, 410);
}

/* Every page and every watch is counted; what an ERROR event says is what a watch came to. */
static void test_feeds_are_counted(void **state)
{
	static const struct reply server[] = {
		{ "/api/v1/pods?watch=true", 403, "{\"kind\":\"Status\",\"message\":\"no\"}" },
		{ "/api/v1/services?watch=true", 200,
		  "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}}\n" },
		{ "/api/v1/", 200, EMPTY_LIST },
		{ 0 },
	};
	struct seen s = { 0 };

	(void)state;
	run(&s, server, both_watches);
	assert_true(times(&s, false, 200) >= 2);
	assert_int_equal(times(&s, true, 200), 0);
}

static bool both_refused(struct seen *s)
{
	return s->lists_refused && s->watches_refused;
}

/* Whoever is told of trouble can tell a list, after which all is known again, from a watch that goes on. */
static void test_trouble_of_lists(void **state)
{
	static const struct reply server[] = {
		{ "/api/v1/pods?watch=true", 403, "{\"kind\":\"Status\",\"message\":\"no\"}" },
		{ "/api/v1/services", 403, "{\"kind\":\"Status\",\"message\":\"no\"}" },
		{ "/api/v1/", 200, EMPTY_LIST },
		{ 0 },
	};
	struct seen s = { 0 };

	(void)state;
	run(&s, server, both_refused);
}

static const struct kube_kind tf_jobs = { STR_INIT("TfJob.mlkube.io"),
	                                  { STR_INIT("mlkube.io"), STR_INIT("v1beta1"), STR_INIT("tfjobs"), true } };

static bool two_deep_jobs(struct seen *s)
{
	static const char problem[] = "spec.deep: nested more than 200 levels deep";
	struct request get = { .id = 1,
		               .verb = VERB_GET,
		               .resource = RES_JOB,
		               .kind = tf_jobs.id,
		               .ns = STR("team"),
		               .name = STR("deep") };
	struct cluster_event ev;

	if (!s->kinds++)
		kube_set_kinds(s->kube, &tf_jobs, 1);
	while (cluster_next(kube_cluster(s->kube), &ev)) {
		if (ev.type == EVENT_PUT) {
			assert_string_equal(ev.object.job->problem.p, problem);
			assert_true(str_eqc(ev.object.job->meta.name, "deep"));
			cluster_submit(kube_cluster(s->kube), &get);
		} else if (ev.type == EVENT_OUTCOME) {
			assert_int_equal(ev.outcome.code, 200);
			assert_string_equal(ev.outcome.object.job->problem.p, problem);
			return true;
		}
	}
	return false;
}

/* A job that nobody can read, for its depth, is told of, and why. */
static void test_deep_jobs(void **state)
{
	struct buf job = BUF_INIT(1 << 20), list = BUF_INIT(1 << 20);
	struct reply server[] = {
		{ "/apis/mlkube.io/v1beta1/namespaces/team/tfjobs/deep", 200, NULL },
		{ "/apis/mlkube.io/v1beta1/tfjobs?watch=true", 403, "" },
		{ "/apis/mlkube.io/v1beta1/tfjobs?", 200, NULL },
		{ "/api/v1/", 200, EMPTY_LIST },
		{ 0 },
	};
	struct seen s = { 0 };

	(void)state;
	buf_put(&job, STR("{\"metadata\":{\"name\":\"deep\",\"namespace\":\"team\"},\"spec\":{\"deep\":"));
	for (int i = 0; i < 9000; i++)
		buf_putc(&job, '[');
	for (int i = 0; i < 9000; i++)
		buf_putc(&job, ']');
	buf_put(&job, STR("}}"));
	buf_printf(&list, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[%s]}", job.p);
	server[0].body = job.p;
	server[2].body = list.p;
	run(&s, server, two_deep_jobs);
	buf_release(&job);
	buf_release(&list);
}

static bool large_and_small(struct seen *s)
{
	struct cluster_event ev;

	while (cluster_next(kube_cluster(s->kube), &ev)) {
		if (ev.type == EVENT_SKIPPED) {
			assert_true(ev.skipped.large && !ev.skipped.gone);
			assert_true(str_eqc(ev.skipped.meta.name, "large") && str_eqc(ev.skipped.meta.ns, "team"));
			assert_true(str_eqc(ev.skipped.meta.uid, "u") && str_eqc(ev.skipped.meta.owner_uid, "o"));
			assert_true(str_eqc(ev.skipped.meta.rv, "5") && str_eqc(ev.skipped.job_uid, "j"));
			s->kinds++;
		} else if (ev.type == EVENT_PUT) {
			assert_int_equal(s->kinds, 1);
			assert_true(str_eqc(ev.object.pod->meta.name, "small"));
		} else if (ev.type == EVENT_SYNCED && ev.resource == RES_POD) {
			return true;
		}
	}
	return false;
}

/* A pod of more than 8 MiB is told of; those behind it are read. */
static void test_large_objects(void **state)
{
	struct buf list = BUF_INIT(10 << 20);
	struct reply server[] = {
		{ "/api/v1/pods?watch=true", 403, "" },
		{ "/api/v1/pods?", 200, NULL },
		{ "/api/v1/", 200, EMPTY_LIST },
		{ 0 },
	};
	struct seen s = { 0 };

	(void)state;
	buf_printf(&list, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"metadata\":{\"name\":\"large\","
	                  "\"namespace\":\"team\",\"uid\":\"u\",\"resourceVersion\":\"5\",\"labels\":{\"" LABEL_UID
	                  "\":\"j\"},\"ownerReferences\":[{\"uid\":\"o\"}]},\"spec\":\"");
	for (int i = 0; i < 1450000; i++)
		buf_put(&list, STR("\\u003c"));
	buf_printf(&list, "\"},{\"metadata\":{\"name\":\"small\"}}]}");
	server[1].body = list.p;
	run(&s, server, large_and_small);
	assert_int_equal(s.kinds, 1);
	buf_release(&list);
}

struct streamed {
	struct kube *kube;
	struct kube_stream *stream;
	struct buf text;
	int ends, code;
	char message[64];
};

static bool on_stream(void *cookie, struct str piece)
{
	buf_put(&((struct streamed *)cookie)->text, piece);
	return true;
}

static void on_stream_end(void *cookie, const struct outcome *o, msec took)
{
	struct streamed *s = cookie;

	assert_true(took >= 0);
	s->ends++;
	s->code = o->code;
	snprintf(s->message, sizeof(s->message), "%.*s", STR_F(o->message));
	testing_enough();
}

/* A client that watches nothing, and one stream of it. */
static void stream(struct streamed *s, const struct reply *r, struct kube_config c, const char *path)
{
	struct kube_options o = { .connections = 1, .request_timeout = SECONDS(50), .calls_only = true };
	struct err e = ERR_INIT;
	char url[64];

	*s = (struct streamed){ .text = BUF_INIT(1 << 20) };
	replies = r;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", testing_serve(serve_replies));
	c.server = (struct http_server){ .url = str_c(url), .proxy = STR("-") };
	s->kube = kube_new(testing_loop, &c, &o, &e);
	assert_non_null(s->kube);
	s->stream = kube_stream_open(
		s->kube, &(struct kube_stream_spec){
				 .path = str_c(path), .data = on_stream, .done = on_stream_end, .cookie = s });
}

static void test_streams(void **state)
{
	static const struct reply server[] = {
		{ "/log", 200, "one\ntwo\n" },
		{ "/old", 401, "" },
		{ "/none", 404, "{\"kind\":\"Status\",\"message\":\"not found\"}" },
		{ 0 },
	};
	static const struct {
		const char *path, *text, *message;
		int code;
	} cases[] = {
		{ "/log", "one\ntwo\n", "", 200 },
		{ "/none", "", "not found", 404 },
		{ "/old", "", "", 401 },
	};
	struct streamed s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		stream(&s, server, (struct kube_config){ 0 }, cases[i].path);
		assert_non_null(s.stream);
		testing_wait(1);
		assert_int_equal(s.ends, 1);
		assert_int_equal(s.code, cases[i].code);
		assert_string_equal(buf_str(&s.text).p, cases[i].text);
		assert_string_equal(s.message, cases[i].message);
		kube_free(s.kube);
		buf_release(&s.text);
	}
	/* One that is not ended goes with the client, or when it is closed. */
	stream(&s, server, (struct kube_config){ 0 }, "/log");
	kube_stream_close(s.stream);
	kube_stream_open(s.kube,
	                 &(struct kube_stream_spec){ .path = STR("/log"), .data = on_stream, .done = on_stream_end });
	kube_free(s.kube);
	assert_int_equal(s.ends, 0);
}

static void test_a_stream_without_credentials(void **state)
{
	static const struct reply server[] = { { 0 } };
	struct kube_config c = { .exec = { .command = STR("/not/there"),
		                           .api_version = STR("client.authentication.k8s.io/v1") } };
	struct streamed s;

	(void)state;
	stream(&s, server, c, "/log");
	while (!s.ends)
		testing_wait(1);
	assert_int_equal(s.code, 0);
	assert_true(s.message[0]);
	kube_free(s.kube);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, testing_setup, testing_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_feeds_are_counted), TEST(test_trouble_of_lists), TEST(test_deep_jobs),
		TEST(test_large_objects),     TEST(test_streams),          TEST(test_a_stream_without_credentials),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
