#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/log.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static msec fixed_now(void *cookie)
{
	return *(msec *)cookie;
}

static msec now = 1794744000123; /* 2026-11-15T12:00:00.123Z */
static const struct clock fixed = { fixed_now, &now };

static FILE *sink;
static char got[2 << 20];

static int open_sink(void **state)
{
	(void)state;
	sink = tmpfile();
	log_to(sink);
	return sink ? 0 : -1;
}

static int close_sink(void **state)
{
	(void)state;
	log_to(NULL);
	return fclose(sink);
}

/* What was written since the last call. */
static const char *written(void)
{
	ssize_t n = pread(fileno(sink), got, sizeof(got) - 1, 0);

	assert_true(n >= 0);
	got[n] = 0;
	assert_int_equal(ftruncate(fileno(sink), 0), 0);
	assert_int_equal(lseek(fileno(sink), 0, SEEK_SET), 0);
	return got;
}

static void test_text(void **state)
{
	(void)state;
	log_setup(LOG_TEXT, LOG_DEBUG, &fixed);
	log_info(FIELDS(F_STR("job", STR("x")), F_INT("index", 3)), "pod %s created", "x-0");
	assert_string_equal(written(), "2026-11-15T12:00:00Z INFO  pod x-0 created job=x index=3\n");
	log_debug(NO_FIELDS, "d");
	log_warn(NO_FIELDS, "w");
	log_error(FIELDS(F_INT("n", INT64_MIN)), "e");
	assert_string_equal(written(), "2026-11-15T12:00:00Z DEBUG d\n"
	                               "2026-11-15T12:00:00Z WARN  w\n"
	                               "2026-11-15T12:00:00Z ERROR e n=-9223372036854775808\n");
}

static void test_text_is_one_line(void **state)
{
	(void)state;
	log_setup(LOG_TEXT, LOG_DEBUG, &fixed);
	log_info(FIELDS(F_STR("a", STR("b c")), F_STR("q", STR("say \"hi\"")), F_STR("e", STR("")),
	                F_STR("n", STR_NONE), F_STR("k", STR("a=b")), F_STR("l", STR("1\n2")),
	                F_STR("u", STR("\xc3\xa4")), F_STR("bad", STR("\xff"))),
	         "one\ntwo\x1b[31m\xc2\x9b\xc3\xa4\xff");
	assert_string_equal(
		written(),
		"2026-11-15T12:00:00Z INFO  one\\ntwo\\x1b[31m\\x9b\xc3\xa4\xef\xbf\xbd a=\"b c\" "
		"q=\"say \\\"hi\\\"\" e=\"\" n=\"\" k=\"a=b\" l=\"1\\n2\" u=\xc3\xa4 bad=\"\xef\xbf\xbd\"\n");
}

/* What moves a terminal's cursor or turns its text around: C0, C1 and the directions, in either form. */
static void test_terminals_do_nothing(void **state)
{
	(void)state;
	log_setup(LOG_TEXT, LOG_DEBUG, &fixed);
	log_info(FIELDS(F_STR("c1", STR("a\xc2\x9b"
	                                "2J")),
	                F_STR("bidi", STR("a\xe2\x80\xae"
	                                  "b")),
	                F_STR("del", STR("\x7f\x1b[2J"))),
	         "m\xe2\x80\xae\xe2\x81\xa6\xc2\x9b\x7f");
	assert_string_equal(written(), "2026-11-15T12:00:00Z INFO  m\\u202e\\u2066\\x9b\\x7f c1=\"a\\u009b2J\" "
	                               "bidi=\"a\\u202eb\" del=\"\\u007f\\u001b[2J\"\n");
	log_setup(LOG_JSON, LOG_DEBUG, &fixed);
	log_info(FIELDS(F_STR("c1", STR("a\xc2\x9b"
	                                "2J"))),
	         "m\xe2\x80\xae");
	assert_string_equal(written(), "{\"time\":\"2026-11-15T12:00:00.123Z\",\"level\":\"info\",\"msg\":\"m\\u202e\","
	                               "\"c1\":\"a\\u009b2J\"}\n");
}

static void test_json(void **state)
{
	(void)state;
	log_setup(LOG_JSON, LOG_DEBUG, &fixed);
	log_warn(FIELDS(F_STR("job", STR("a \"b\"")), F_INT("index", -3)), "one\ntwo");
	assert_string_equal(written(),
	                    "{\"time\":\"2026-11-15T12:00:00.123Z\",\"level\":\"warn\",\"msg\":\"one\\ntwo\","
	                    "\"job\":\"a \\\"b\\\"\",\"index\":-3}\n");
	now = -1;
	log_debug(NO_FIELDS, "x");
	now = 1794744000123;
	assert_string_equal(written(), "{\"time\":\"1969-12-31T23:59:59.999Z\",\"level\":\"debug\",\"msg\":\"x\"}\n");
}

static void test_least(void **state)
{
	(void)state;
	log_setup(LOG_TEXT, LOG_WARN, &fixed);
	log_debug(NO_FIELDS, "d");
	log_info(NO_FIELDS, "i");
	assert_string_equal(written(), "");
	errno = ENOENT;
	log_warn(NO_FIELDS, "w");
	assert_int_equal(errno, ENOENT);
	assert_string_equal(written(), "2026-11-15T12:00:00Z WARN  w\n");
}

/* Texts that grow most when they are escaped, and more fields than a line takes. */
static void test_long_lines_stay_json(void **state)
{
	static char big[100000];
	struct log_field fields[40];
	yyjson_doc *doc;

	(void)state;
	memset(big, 1, sizeof(big) - 1);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		fields[i] = F_STR("k", str_c(big));
	log_setup(LOG_JSON, LOG_DEBUG, &fixed);
	log_write(LOG_INFO, fields, ARRAY_LEN(fields), "%s", big);
	written();
	assert_true(strlen(got) < sizeof(got) - 1 && got[strlen(got) - 1] == '\n');
	doc = yyjson_read(got, strlen(got) - 1, 0);
	assert_non_null(doc);
	assert_int_equal(yyjson_obj_size(yyjson_doc_get_root(doc)), 3 + 17);
	assert_int_equal(json_str(json_get(yyjson_doc_get_root(doc), "k")).n, 8192);
	assert_int_equal(json_str(json_get(yyjson_doc_get_root(doc), "msg")).n, 8191);
	yyjson_doc_free(doc);
	/* A cut falls between characters. */
	memset(big, 'x', sizeof(big) - 1);
	memcpy(big + 8190, "\xe4\xb8\xad", 3);
	log_info(FIELDS(F_STR("k", str_c(big))), "m");
	written();
	doc = yyjson_read(got, strlen(got) - 1, 0);
	assert_non_null(doc);
	assert_int_equal(json_str(json_get(yyjson_doc_get_root(doc), "k")).n, 8190);
	yyjson_doc_free(doc);
}

/* A socket of packets keeps the writes apart. */
static void test_one_write_for_a_line(void **state)
{
	char packet[1000];
	int pair[2];
	FILE *f;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	f = fdopen(pair[0], "w");
	assert_non_null(f);
	log_to(f);
	log_setup(LOG_TEXT, LOG_DEBUG, &fixed);
	log_info(FIELDS(F_INT("a", 1), F_STR("b", STR("x y"))), "first");
	log_info(NO_FIELDS, "second");
	assert_int_equal(recv(pair[1], packet, sizeof(packet), 0),
	                 strlen("2026-11-15T12:00:00Z INFO  first a=1 b=\"x y\"\n"));
	assert_int_equal(recv(pair[1], packet, sizeof(packet), 0), strlen("2026-11-15T12:00:00Z INFO  second\n"));
	log_to(sink);
	fclose(f);
	close(pair[1]);
}

static void test_stream_without_descriptor(void **state)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	log_to(f);
	log_setup(LOG_TEXT, LOG_DEBUG, &fixed);
	log_info(NO_FIELDS, "hello");
	log_to(sink);
	assert_string_equal(text, "2026-11-15T12:00:00Z INFO  hello\n");
	fclose(f);
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_is_one_line),
		cmocka_unit_test(test_terminals_do_nothing),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_long_lines_stay_json),
		cmocka_unit_test(test_one_write_for_a_line),
		cmocka_unit_test(test_stream_without_descriptor),
	};

	return cmocka_run_group_tests(tests, open_sink, close_sink);
}
