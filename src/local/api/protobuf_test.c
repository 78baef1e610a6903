#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/rng.h"
#include "local/api/protobuf.h"

/* A field of bytes; N below 128. */
static void put(struct buf *b, int number, struct str bytes)
{
	buf_putc(b, (char)(number << 3 | 2));
	buf_putc(b, (char)bytes.n);
	buf_put(b, bytes);
}

static void put_pair(struct buf *b, int number, struct str key, struct str value)
{
	struct buf pair = BUF_INIT(256);

	put(&pair, 1, key);
	put(&pair, 2, value);
	put(b, number, buf_str(&pair));
	buf_release(&pair);
}

static struct buf envelope(const char *version, const char *kind, struct str inner)
{
	struct buf type = BUF_INIT(256), b = BUF_INIT(4096);

	put(&type, 1, str_c(version));
	put(&type, 2, str_c(kind));
	buf_put(&b, (struct str){ "k8s", 4 });
	put(&b, 1, buf_str(&type));
	put(&b, 2, inner);
	put(&b, 3, STR(""));
	buf_release(&type);
	return b;
}

static struct buf a_secret(void)
{
	struct buf meta = BUF_INIT(256), inner = BUF_INIT(256), b;

	put(&meta, 1, STR("s"));
	put(&meta, 2, STR(""));
	buf_put(&meta, (struct str){ "\x38\x00", 2 }); /* generation 0 */
	put(&meta, 8, STR(""));
	put_pair(&meta, 11, STR("a"), STR("b"));
	put_pair(&meta, 11, STR("c"), STR("\"d\""));
	put(&inner, 1, buf_str(&meta));
	put_pair(&inner, 2, STR("k"), STR("\xff\x01"));
	put(&inner, 3, STR("Opaque"));
	buf_put(&inner, STR("\x28\x01"));
	b = envelope("v1", "Secret", buf_str(&inner));
	buf_release(&meta);
	buf_release(&inner);
	return b;
}

static void a_secret_is_read(void **state)
{
	struct buf b = a_secret(), out = BUF_INIT(4096);
	struct err e = ERR_INIT;

	(void)state;
	if (!protobuf_to_json(STR("Secret"), buf_str(&b), &out, &e))
		fail_msg("%s", err_msg(&e));
	assert_string_equal(
		out.p,
		"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"labels\":{\"a\":\"b\","
		"\"c\":\"\\\"d\\\"\"}},\"data\":{\"k\":\"/wE=\"},\"type\":\"Opaque\",\"immutable\":true}");
	buf_release(&b);
	buf_release(&out);
}

static void an_empty_object_is_one(void **state)
{
	struct buf b = envelope("v1", "ConfigMap", STR("")), out = BUF_INIT(4096);
	yyjson_doc *doc CLEANUP(json_docp) = NULL;

	(void)state;
	assert_true(protobuf_to_json(STR("ConfigMap"), buf_str(&b), &out, &(struct err)ERR_INIT));
	doc = json_parse(buf_str(&out), NULL);
	assert_non_null(doc);
	assert_int_equal(yyjson_obj_size(yyjson_doc_get_root(doc)), 2);
	buf_release(&b);
	buf_release(&out);
}

static void refuses(struct str kind, struct str body, const char *why)
{
	struct buf out = BUF_INIT(4096);
	struct err e = ERR_INIT;

	assert_false(protobuf_to_json(kind, body, &out, &e));
	assert_non_null(strstr(err_msg(&e), why));
	assert_int_equal(out.n, 0);
	err_release(&e);
}

static void what_is_not_known_is_refused(void **state)
{
	struct buf inner = BUF_INIT(256), b = a_secret();

	(void)state;
	assert_true(protobuf_knows(STR("Namespace")));
	assert_false(protobuf_knows(STR("Pod")));
	refuses(STR("ConfigMap"), buf_str(&b), "no v1 ConfigMap");
	buf_release(&b);
	put(&inner, 9, STR("x"));
	b = envelope("v1", "ConfigMap", buf_str(&inner));
	refuses(STR("ConfigMap"), buf_str(&b), "field 9");
	buf_release(&b);
	buf_release(&inner);
	refuses(STR("ConfigMap"), STR("{}"), "damaged");
	refuses(STR("ConfigMap"), STR(""), "damaged");
}

/* Each prefix, and each byte changed: an object or a reason, never more. */
static void damaged_ones(void **state)
{
	struct buf good = a_secret();
	struct rng rng = rng_seed(3);

	(void)state;
	for (size_t i = 0; i < good.n * 50; i++) {
		char *copy = xmalloc(good.n);
		struct str body = { copy, i < good.n ? i : good.n };
		struct buf out = BUF_INIT(4096);
		struct err e = ERR_INIT;

		memcpy(copy, good.p, good.n);
		if (i >= good.n)
			copy[i % good.n] = (char)rng_below(&rng, 256);
		if (protobuf_to_json(STR("Secret"), body, &out, &e)) {
			yyjson_doc *doc = yyjson_read(out.p, out.n, 0);

			assert_non_null(doc);
			yyjson_doc_free(doc);
		} else {
			assert_true(e.code && e.msg[0]);
		}
		err_release(&e);
		buf_release(&out);
		free(copy);
	}
	buf_release(&good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_secret_is_read),
		cmocka_unit_test(an_empty_object_is_one),
		cmocka_unit_test(what_is_not_known_is_refused),
		cmocka_unit_test(damaged_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
