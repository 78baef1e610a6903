/* Frames as RFC 6455 shows them, what it forbids, and any bytes in any pieces. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "http/websocket.h"

enum { ROOM = 1 << 18 };

/* What a reader made of it: "binary<abc>", one for each piece, and "wrong". */
static void read_all(struct ws_reader *r, struct str bytes, struct buf *ret)
{
	char *copy = xstrndup(bytes.p, bytes.n), *at = copy;
	size_t n = bytes.n;
	struct ws_piece p;
	enum ws_got got;

	while ((got = ws_read(r, &at, &n, &p)) == WS_PIECE)
		buf_printf(ret, "%d%s%s<%.*s>", p.op, p.first ? "f" : "", p.last ? "l" : "", STR_F(p.bytes));
	if (got == WS_WRONG)
		buf_put(ret, STR("wrong"));
	free(copy);
}

#define BYTES(text) ((struct str){ (text), sizeof(text) - 1 })
static void reads(bool masked, struct str bytes, const char *expected)
{
	struct ws_reader r = { .masked = masked };
	struct buf b = BUF_INIT(ROOM);

	read_all(&r, bytes, &b);
	assert_string_equal(buf_str(&b).p, expected);
	buf_release(&b);
}

static void test_examples(void **state)
{
	(void)state;
	reads(false, BYTES("\x81\x05Hello"), "1fl<Hello>");
	reads(true, BYTES("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "1fl<Hello>");
	reads(false, BYTES("\x01\x03Hel\x80\x02lo"), "1f<Hel>1l<lo>");
	reads(false, BYTES("\x89\x05Hello"), "9fl<Hello>");
	/* A ping between the parts of a message. */
	reads(false,
	      BYTES("\x02\x01"
	            "a\x89\x01p\x80\x01"
	            "b"),
	      "2f<a>9fl<p>2l<b>");
	reads(false, BYTES("\x82\x00\x88\x02\x03\xe8"), "2fl<>8fl<\x03\xe8>");
	reads(false, BYTES("\x02\x00\x80\x00"), "2fl<>");
}

static void test_what_is_forbidden(void **state)
{
	(void)state;
	reads(true, BYTES("\x82\x01"), "wrong"); /* no mask */
	reads(false, BYTES("\x82\x81"), "");     /* one that is not there yet … */
	reads(false,
	      BYTES("\x82\x81"
	            "abcd"),
	      "wrong");                           /* … and need not be */
	reads(false, BYTES("\xc2\x01"), "wrong"); /* an extension */
	reads(false, BYTES("\x83\x01"), "wrong"); /* no such kind */
	reads(false, BYTES("\x8b\x01"), "wrong");
	reads(false, BYTES("\x80\x01"), "wrong"); /* goes on with nothing */
	reads(false,
	      BYTES("\x02\x01"
	            "a\x82\x01"),
	      "2f<a>wrong");                              /* one message inside another */
	reads(false, BYTES("\x09\x01"), "wrong");         /* a ping in parts */
	reads(false, BYTES("\x89\x7e\x00\x7e"), "wrong"); /* … or too long */
	reads(false, BYTES("\x82\x7e\x00\x7d"), "wrong"); /* lengths longer than they must be */
	reads(false, BYTES("\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff"), "wrong");
	reads(false, BYTES("\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00"), "wrong"); /* negative */
}

static void test_written_is_read(void **state)
{
	static const size_t sizes[] = { 0, 1, 124, 125, 126, 65534, 65535, 65536, 100000 };
	static const unsigned char mask[4] = { 1, 2, 250, 0 };

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(sizes); i++) {
		bool masked = i % 2;
		size_t n = sizes[i / 2];
		struct ws_reader r = { .masked = masked };
		char *text = xcalloc(1, n + 1), *at;
		struct buf frame = BUF_INIT(ROOM);
		struct ws_piece p;
		size_t left;

		memset(text, 'x', n);
		ws_put(&frame, WS_BINARY, masked ? mask : NULL, STR("\1"), (struct str){ text, n });
		at = frame.p;
		left = frame.n;
		assert_int_equal(ws_read(&r, &at, &left, &p), WS_PIECE);
		assert_true(p.op == WS_BINARY && p.first && p.last && left == 0);
		assert_int_equal(p.bytes.n, n + 1);
		assert_true(p.bytes.p[0] == 1 && !memcmp(p.bytes.p + 1, text, n));
		buf_release(&frame);
		free(text);
	}
}

static void test_handshake(void **state)
{
	char accept[WS_ACCEPT + 1];

	(void)state;
	ws_accept(accept, STR("dGhlIHNhbXBsZSBub25jZQ=="));
	assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	assert_true(ws_lists(STR("keep-alive, Upgrade"), STR("upgrade")));
	assert_false(ws_lists(STR("keep-alive, Upgraded"), STR("upgrade")));
	assert_false(ws_lists(STR_NONE, STR("upgrade")));
}

/* Bytes that are nearly frames; cut anywhere, they say the same. */
static void fill(struct rng *r, struct buf *b)
{
	buf_clear(b);
	while (b->n < 200) {
		char payload[300] = "";
		size_t n = rng_below(r, rng_one_in(r, 4) ? 300 : 20);
		static const enum ws_op ops[] = { WS_MORE, WS_TEXT, WS_BINARY, WS_CLOSE, WS_PING, WS_PONG };
		unsigned char mask[4] = { (unsigned char)rng_next(r), 2, 3, 4 };
		size_t at = b->n;

		ws_put(b, ops[rng_below(r, ARRAY_LEN(ops))], rng_one_in(r, 30) ? NULL : mask, STR_NONE,
		       (struct str){ payload, n });
		if (rng_one_in(r, 3))
			b->p[at] = (char)(b->p[at] & 127);
		if (rng_one_in(r, 10))
			b->p[at + rng_below(r, b->n - at)] = (char)rng_next(r);
	}
}

/* How much of each message came, and whether all was well. */
static void digest(struct ws_reader *r, struct str bytes, struct rng *cut, struct buf *ret)
{
	struct ws_piece p;
	enum ws_got got = WS_NOTHING;
	size_t sum = 0;

	for (size_t from = 0, k; from < bytes.n && got != WS_WRONG; from += k) {
		char *copy, *at;
		size_t n = k = cut ? MIN(1 + (size_t)rng_below(cut, 9), bytes.n - from) : bytes.n;

		at = copy = xstrndup(bytes.p + from, k);
		while ((got = ws_read(r, &at, &n, &p)) == WS_PIECE) {
			assert_true(p.op != WS_MORE);
			assert_true(p.op < WS_CLOSE || (p.first && p.last && p.bytes.n <= WS_CONTROL_MAX));
			if (p.op >= WS_CLOSE) {
				buf_printf(ret, "control %d %zu\n", p.op, p.bytes.n);
				continue;
			}
			sum = (p.first ? 0 : sum) + p.bytes.n;
			if (p.last)
				buf_printf(ret, "message %d %zu\n", p.op, sum);
		}
		free(copy);
	}
	if (got == WS_WRONG)
		buf_put(ret, STR("wrong"));
}

static void test_any_bytes(void **state)
{
	struct rng r = rng_seed(6455);
	struct buf bytes = BUF_INIT(ROOM), whole = BUF_INIT(ROOM), pieces = BUF_INIT(ROOM);

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct ws_reader a = { .masked = true }, b = a;

		fill(&r, &bytes);
		buf_clear(&whole);
		buf_clear(&pieces);
		digest(&a, buf_str(&bytes), NULL, &whole);
		digest(&b, buf_str(&bytes), &r, &pieces);
		assert_string_equal(buf_str(&whole).p, buf_str(&pieces).p);
	}
	buf_release(&bytes);
	buf_release(&whole);
	buf_release(&pieces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),        cmocka_unit_test(test_what_is_forbidden),
		cmocka_unit_test(test_written_is_read), cmocka_unit_test(test_handshake),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
