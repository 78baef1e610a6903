#include "kube/testing.h"
#include "object/labels.h"

static void test_path(void **state)
{
	struct bench *b = *state;

	assert_int_equal(watch_state(b->w), WATCH_EMPTY);
	expect_list(b, "2");
	page(b, PAGE("10", "t/1", OBJ("a", "3") "," OBJ("b", "4")));
	expect_log(b, "sync +a +b ");
	expect_list(b, "2&continue=t%2F1");
	/* The order of keys is the server's; jobs come like this. */
	page(b, "{\"items\":[" OBJ("c", "9") "],\"kind\":\"PodList\"," META("10", "") "}");
	expect_log(b, "+c synced ");
	expect_watch(b, "10");
	assert_true(data(b, EVENT("ADDED", "d", "11") EVENT("MODIFIED", "a", "12") EVENT("DELETED", "b", "13")));
	expect_log(b, "+d +a -b ");
	assert_true(data(b, EVENT("BOOKMARK", "", "20")));
	ended(b, 200, "", MINUTES(6));
	/* Nothing is lost when a watch ends: it goes on at once, without a list. */
	expect_watch(b, "20");
	assert_true(data(b, EVENT("ADDED", "e", "21")));
	ended(b, 200, "", MINUTES(6));
	expect_watch(b, "21");
	expect_log(b, "+e ");
}

static void test_empty_lists(void **state)
{
	static const char *const pages[] = { PAGE("10", "", ""), "{" META("10", "") ",\"items\":null}",
		                             "{" META("10", "") "}", "{\"metadata\":{\"resourceVersion\":\"10\"}}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		struct bench *b = bench_new(1);

		expect_list(b, "2");
		page(b, pages[i]);
		expect_log(b, "sync synced ");
		expect_watch(b, "10");
		teardown((void **)&b);
	}
}

static const char recorded_page[] = PAGE("10", "t", OBJ("a\\\"]}", "3") ",\n " OBJ("\xc3\xa4", "4"));
static const char recorded_watch[] =
	EVENT("ADDED", "d", "11") EVENT("MODIFIED", "\xc3\xa4\\n", "12") "\n" EVENT("BOOKMARK", "", "15")
		EVENT("DELETED", "b", "16") "{\"type\":\"ADDED\",\"obj";

static void expect_recorded(struct bench *b)
{
	expect_log(b, "sync +a\"]} +\xc3\xa4 synced +d +\xc3\xa4\n -b ");
	ended(b, 200, "", MINUTES(6));
	expect_watch(b, "16");
}

static void test_every_split(void **state)
{
	size_t longest = MAX(sizeof(recorded_page), sizeof(recorded_watch));

	(void)state;
	for (size_t cut = 0; cut < longest; cut++) {
		struct bench *b = bench_new(1);
		struct str list = str_c(recorded_page), stream = str_c(recorded_watch);

		expect_list(b, "2");
		assert_true(watch_data(b->w, str_sub(list, 0, cut)));
		assert_true(watch_data(b->w, str_sub(list, MIN(cut, list.n), list.n)));
		ended(b, 200, "", 5);
		expect_list(b, "2&continue=t");
		page(b, PAGE("10", "", ""));
		expect_watch(b, "10");
		assert_true(watch_data(b->w, str_sub(stream, 0, cut)));
		assert_true(watch_data(b->w, str_sub(stream, MIN(cut, stream.n), stream.n)));
		expect_recorded(b);
		teardown((void **)&b);
	}
}

static void feed_randomly(struct bench *b, struct str text, struct rng *r)
{
	while (text.n) {
		size_t n = rng_below(r, 2) ? rng_below(r, 4) : rng_below(r, 80);

		assert_true(watch_data(b->w, str_sub(text, 0, n)));
		text = str_sub(text, MIN(n, text.n), text.n);
	}
}

static void test_random_pieces(void **state)
{
	struct rng r = rng_seed(7);

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		struct bench *b = bench_new(1);

		expect_list(b, "2");
		feed_randomly(b, str_c(recorded_page), &r);
		ended(b, 200, "", 5);
		expect_list(b, "2&continue=t");
		page(b, PAGE("10", "", ""));
		expect_watch(b, "10");
		feed_randomly(b, str_c(recorded_watch), &r);
		expect_recorded(b);
		teardown((void **)&b);
	}
}

/* The first page, asked for again, is of a later moment: what came before must not count as listed. */
static void test_first_page_breaks(void **state)
{
	struct bench *b = *state;

	expect_list(b, "2");
	assert_true(data(b, "{" META("10", "") ",\"items\":[" OBJ("a", "3") ","));
	ended(b, 200, "", 5);
	expect_log(b, "sync +a 0(the list was cut off) ");
	expect_sleep(b);
	expect_list(b, "2");
	page(b, PAGE("12", "", OBJ("b", "3")));
	expect_log(b, "sync +b synced ");
	expect_watch(b, "12");
}

/* A later page is of the same moment as the first: it is asked for again, and the list goes on. */
static void test_later_page_fails(void **state)
{
	static const int codes[] = { 0, 401, 403, 404, 429, 500, 503 };
	struct bench *b = *state;

	expect_list(b, "2");
	page(b, PAGE("10", "t", OBJ("a", "3")));
	expect_log(b, "sync +a ");
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		expect_list(b, "2&continue=t");
		ended(b, codes[i], "no", 5);
		buf_clear(&b->log);
		expect_sleep(b);
	}
	expect_list(b, "2&continue=t");
	assert_true(data(b, "{\"items\":[" OBJ("b", "4")));
	ended(b, 200, "", 5);
	expect_log(b, "+b 0(the list was cut off) ");
	expect_sleep(b);
	expect_list(b, "2&continue=t");
	page(b, PAGE("10", "", OBJ("b", "4")));
	expect_log(b, "+b synced ");
}

#define GONE                                                                                                           \
	"{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"too "                                  \
	"old\",\"metadata\":{\"continue\":\"n\"}}"

/* A token that expired: the list begins anew, nothing was swept, and fewer pages make it quicker. */
static void test_token_expires(void **state)
{
	struct bench *b = *state;

	expect_list(b, "2");
	page(b, PAGE("10", "t", OBJ("a", "3")));
	expect_list(b, "2&continue=t");
	ended(b, 410, GONE, 5);
	expect_log(b, "sync +a 410(too old) ");
	expect_sleep(b);
	expect_list(b, "4");
	page(b, PAGE("20", "u", OBJ("b", "3")));
	expect_list(b, "4&continue=u");
	ended(b, 400, "bad token", 5);
	expect_log(b, "sync +b 400(bad token) ");
	expect_sleep(b);
	expect_list(b, "8");
	page(b, PAGE("30", "", OBJ("c", "3")));
	expect_log(b, "sync +c synced ");
	expect_watch(b, "30");
	ended(b, 410, GONE, 5);
	expect_sleep(b);
	expect_list(b, "2");
}

static void test_token_stands_still(void **state)
{
	struct bench *b = *state;

	expect_list(b, "2");
	page(b, PAGE("10", "t", ""));
	expect_list(b, "2&continue=t");
	page(b, PAGE("10", "t", ""));
	expect_log(b, "sync 0(the pages of the list repeat themselves) ");
	expect_sleep(b);
	expect_list(b, "2");
}

static void test_wrong_pages(void **state)
{
	static const struct {
		const char *text, *log;
		bool go_on;
	} cases[] = {
		{ "", "0(the list was cut off) ", true },
		{ "{}", "sync 0(the answer is not a list) ", true },
		{ "[]", "sync 0(the answer is not a list) ", true },
		{ "<html>", "sync 0(the list was cut off) ", true },
		{ "{\"items\":[],\"metadata\":{\"resourceVersion\":5}}", "sync 0(the answer is not a list) ", true },
		{ PAGE("", "", ""), "sync 0(the answer is not a list) ", true },
		{ PAGE("1", "", "5"), "sync 0(an item of the list is not an object) ", false },
		{ PAGE("1", "", "{\"a\":}"), "sync 0(an item of the list is not an object) ", false },
		{ PAGE("1", "", OBJ("a", "1") ",[]"), "sync +a 0(an item of the list is not an object) ", false },
		{ PAGE("1", "", "") "x", "sync 0(the answer is not a list) ", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench *b = bench_new(1);

		expect_list(b, "2");
		if (cases[i].text[0])
			assert_int_equal(data(b, cases[i].text), cases[i].go_on);
		assert_int_equal(data(b, ""), cases[i].go_on);
		buf_clear(&b->log);
		teardown((void **)&b);

		b = bench_new(1);
		expect_list(b, "2");
		if (cases[i].text[0])
			data(b, cases[i].text);
		ended(b, 200, "", 5);
		expect_log(b, cases[i].log);
		expect_sleep(b);
		expect_list(b, "2");
		teardown((void **)&b);
	}
}

/* How a watch may end too early, and whether it goes on from where it was. */
static void test_watch_fails(void **state)
{
	static const struct {
		int status;
		const char *body, *log;
		bool lists;
	} cases[] = {
		{ 0, "connection refused", "0(connection refused) ", false },
		{ 401, "Unauthorized", "401(Unauthorized) ", false },
		{ 403, "{\"kind\":\"Status\",\"message\":\"may not\"}", "403(may not) ", false },
		{ 429, "", "429() ", false },
		{ 500, "{\"kind\":\"Pod\",\"message\":\"x\"}", "500({\"kind\":\"Pod\",\"message\":\"x\"}) ", false },
		{ 503, "", "503() ", false },
		{ 410, GONE, "", true },
		{ 400, "version?", "400(version?) ", true },
		{ 404, "", "404() ", true },
		{ 302, "", "302() ", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench *b = bench_new(1);

		to_watch(b);
		ended(b, cases[i].status, cases[i].body, 5);
		expect_log(b, cases[i].log);
		expect_sleep(b);
		if (cases[i].lists)
			expect_list(b, "2");
		else
			expect_watch(b, "10");
		teardown((void **)&b);
	}
}

static void test_stream_fails(void **state)
{
	static const struct {
		const char *text, *log;
		bool lists;
		int code;
	} cases[] = {
		{ ERROR_EVENT("410") EVENT("ADDED", "x", "1"), "", true, 410 },
		{ EVENT("ADDED", "x", "11") ERROR_EVENT("500"), "+x 500(m) ", false, 500 },
		{ ERROR_EVENT("\"410\""), "0(m) ", false, 500 },
		{ ERROR_EVENT("99999999999"), "0(m) ", false, 500 },
		{ "{\"type\":\"ERROR\",\"object\":{}}\n", "0(the watch ended with an error) ", false, 500 },
		{ "garbage\n", "0(a line of the watch is not an event) ", true },
		{ "5\n", "0(a line of the watch is not an event) ", true },
		{ "{\"type\":\"ADDED\",\"object\":5}\n", "0(a line of the watch is not an event) ", true },
		{ "{\"type\":\"ADDED\"}\n", "0(a line of the watch is not an event) ", true },
		{ "{\"type\":\"SUNG\",\"object\":{}}\n", "0(an event of the watch has an unknown type) ", true },
		{ "{\"object\":{}}\n", "0(an event of the watch has an unknown type) ", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench *b = bench_new(1);

		to_watch(b);
		assert_false(data(b, cases[i].text));
		assert_false(data(b, EVENT("ADDED", "late", "99")));
		assert_int_equal(ended(b, 200, "", MINUTES(1)), cases[i].code ? cases[i].code : 200);
		expect_log(b, cases[i].log);
		expect_sleep(b);
		if (cases[i].lists)
			expect_list(b, "2");
		else
			expect_watch(b, strncmp(cases[i].log, "+x", 2) == 0 ? "11" : "10");
		teardown((void **)&b);
	}
}

/* A server whose older state was put back does not have the version that we ask for. */
static void test_version_of_a_future(void **state)
{
	static const char *const says[] = {
		"{\"kind\":\"Status\",\"code\":504,\"message\":\"Timeout\",\"details\":{\"causes\":"
		"[{\"reason\":\"ResourceVersionTooLarge\"}]}}",
		"{\"kind\":\"Status\",\"code\":504,\"message\":\"Timeout: Too large resource version: 10, current: "
		"4\"}",
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(says); i++) {
		struct bench *b = bench_new(i);
		struct buf line = BUF_INIT(1 << 20);

		to_watch(b);
		if (i % 2) {
			ended(b, 504, says[i / 2], 5);
		} else {
			buf_printf(&line, "{\"type\":\"ERROR\",\"object\":%s}\n", says[i / 2]);
			assert_false(data(b, line.p));
			ended(b, 200, "", 5);
		}
		buf_clear(&b->log);
		expect_sleep(b);
		expect_list(b, "2");
		page(b, PAGE("4", "", OBJ("a", "3")));
		expect_log(b, "sync +a back synced ");
		buf_release(&line);
		teardown((void **)&b);
	}
}

/* A watch from the future may also be taken, and say nothing. */
static void test_silent_watch(void **state)
{
	struct bench *b = *state;
	msec idle = SECONDS(90);

	to_watch(b);
	for (int i = 0; i < 6; i++) {
		ended(b, 200, "", idle);
		expect_sleep(b);
		expect_list(b, "2");
		page(b, PAGE("10", "", OBJ("a", "3")));
		expect_log(b, "sync +a synced ");
		/* A server that never sends bookmarks is not listed too often. */
		idle = MIN(2 * idle, MINUTES(10));
		assert_int_equal(watch_next(b->w).idle_timeout, idle);
	}
	/* Whoever has said something and falls silent has lost the connection, not the version. */
	assert_true(data(b, EVENT("BOOKMARK", "", "12")));
	ended(b, 200, "", SECONDS(200));
	expect_watch(b, "12");
	ended(b, 200, "", SECONDS(80));
	expect_watch(b, "12");
	assert_true(data(b, EVENT("ADDED", "b", "13")));
	ended(b, 200, "", SECONDS(80));
	assert_int_equal(watch_next(b->w).idle_timeout, SECONDS(90));
}

/* Versions that are no numbers say nothing about before and after. */
static void test_versions_that_are_no_numbers(void **state)
{
	struct bench *b = *state;

	to_watch(b);
	ended(b, 410, "", 5);
	expect_sleep(b);
	expect_list(b, "2");
	page(b, PAGE("0x4", "", ""));
	expect_log(b, "sync synced ");
}

#define BLANKS "                                                                                                    "
/* Longer than the bench takes. */
#define PAD "\"x\":\"" BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS BLANKS "\""
#define LARGE(name, version)                                                                                           \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"" version        \
	"\",\"labels\":{\"" LABEL_UID "\":\"j\"},\"ownerReferences\":[{\"uid\":\"o\"}]}," PAD "}"
#define NAMELESS "{\"metadata\":{\"uid\":\"u\"}," PAD "}"
#define LARGE_EVENT(type, name, version) "{\"type\":\"" type "\",\"object\":" LARGE(name, version) "}\n"

/* An item that is too large does not stop the others: neither those of its page nor of the next. */
static void test_large_items(void **state)
{
	struct bench *b = *state;

	expect_list(b, "2");
	page(b, PAGE("10", "t", OBJ("a", "3") "," LARGE("big", "4")));
	expect_log(b, "sync +a ?n/big,u,4,j,o ");
	expect_list(b, "2&continue=t");
	page(b, PAGE("10", "", LARGE("big2", "5") "," LARGE("big3", "6") "," OBJ("b", "7") "," NAMELESS));
	expect_log(b, "?n/big2,u,5,j,o ?n/big3,u,6,j,o +b ?/,,,, synced ");
	expect_watch(b, "10");
}

/* Nor an event, and the watch goes on from after it. */
static void test_large_events(void **state)
{
	struct bench *b = *state;

	to_watch(b);
	assert_true(data(b, LARGE_EVENT("ADDED", "big", "11") EVENT("ADDED", "b", "12")));
	assert_true(data(b, LARGE_EVENT("MODIFIED", "big", "13") LARGE_EVENT("DELETED", "big", "14")));
	expect_log(b, "?n/big,u,11,j,o +b ?n/big,u,13,j,o -?n/big,u,14,j,o ");
	ended(b, 200, "", MINUTES(6));
	expect_watch(b, "14");
}

/* Of one that nobody can name anything may have become. */
static void test_large_events_without_a_name(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"ADDED\",\"object\":" NAMELESS "}\n",
		LARGE_EVENT("BOOKMARK", "big", "11"),
		LARGE_EVENT("ERROR", "big", "11"),
		"{\"object\":" LARGE("big", "11") "}\n",
		BLANKS PAD "\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct bench *b = bench_new(1);

		to_watch(b);
		assert_false(data(b, lines[i]));
		ended(b, 200, "", MINUTES(6));
		expect_log(b, "0(an event of the watch is too large) ");
		expect_sleep(b);
		expect_list(b, "2");
		teardown((void **)&b);
	}
}

/* What is no JSON but says whose it is. */
static void test_odd_objects(void **state)
{
	struct bench *b = *state;

	expect_list(b, "2");
	page(b, PAGE("10", "", "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"x\":1e999}," OBJ("b", "3")));
	expect_log(b, "sync ?/a,u,,,! +b synced ");
	expect_watch(b, "10");
	assert_true(
		data(b, "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"x\":+}}\n"));
	expect_log(b, "-?/a,u,,,! ");
}

static void test_line_without_end(void **state)
{
	struct bench *b = *state;
	bool more = true;

	to_watch(b);
	for (int i = 0; more && i < 2000; i++)
		more = data(b, "0123456789");
	assert_false(more);
	ended(b, 200, "", MINUTES(1));
	expect_log(b, "0(an object is too large) ");
	expect_sleep(b);
	expect_list(b, "2");
}

/* An object that nobody can read, for its depth, does not stop the others. */
static void test_deep_object(void **state)
{
	struct bench *b = *state;

	to_watch(b);
	assert_true(data(b, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"deep\"},\"a\":"));
	for (int i = 0; i < 400; i++)
		assert_true(data(b, "["));
	for (int i = 0; i < 400; i++)
		assert_true(data(b, "]"));
	assert_true(data(b, "}}\n" EVENT("ADDED", "next", "11")));
	expect_log(b, "+deep +next ");
}

static void test_odd_versions(void **state)
{
	struct bench *b = *state;

	to_watch(b);
	assert_true(data(b, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":11}}}\n"
	                    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":[]}}\n" EVENT("BOOKMARK", "", "")));
	assert_true(data(b, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\""));
	for (int i = 0; i < 30; i++)
		assert_true(data(b, "0123456789"));
	assert_true(data(b, "\"}}}\n"));
	expect_log(b, "+a ");
	ended(b, 200, "", MINUTES(6));
	expect_watch(b, "10");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(test_path),
		TEST(test_first_page_breaks),
		TEST(test_later_page_fails),
		TEST(test_token_expires),
		TEST(test_token_stands_still),
		TEST(test_large_items),
		TEST(test_large_events),
		cmocka_unit_test(test_large_events_without_a_name),
		TEST(test_odd_objects),
		TEST(test_line_without_end),
		TEST(test_deep_object),
		TEST(test_silent_watch),
		TEST(test_versions_that_are_no_numbers),
		cmocka_unit_test(test_version_of_a_future),
		TEST(test_odd_versions),
		cmocka_unit_test(test_empty_lists),
		cmocka_unit_test(test_every_split),
		cmocka_unit_test(test_random_pieces),
		cmocka_unit_test(test_wrong_pages),
		cmocka_unit_test(test_watch_fails),
		cmocka_unit_test(test_stream_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
