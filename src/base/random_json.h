/* For tests: random trees, small enough to read, full of the strings that break writers and readers. */
#ifndef BASE_RANDOM_JSON_H
#define BASE_RANDOM_JSON_H

#include "base/json.h"
#include "base/rng.h"

static inline struct str random_text(struct rng *r, char room[static 64])
{
	static const struct str nasty[] = {
		STR_INIT("yes"),
		STR_INIT("No"),
		STR_INIT("on"),
		STR_INIT("y"),
		STR_INIT("0644"),
		STR_INIT("1e3"),
		STR_INIT("~"),
		STR_INIT(""),
		STR_INIT(" x"),
		STR_INIT("x "),
		STR_INIT("a: b"),
		STR_INIT("a:"),
		STR_INIT("#x"),
		STR_INIT("a #b"),
		STR_INIT("null"),
		STR_INIT("Null"),
		STR_INIT("true"),
		STR_INIT("1"),
		STR_INIT("-1"),
		STR_INIT("+.inf"),
		STR_INIT(".nan"),
		STR_INIT("0x1F"),
		STR_INIT("0b11"),
		STR_INIT("0o7"),
		STR_INIT("1_000"),
		STR_INIT("1:30"),
		STR_INIT("2026-11-15"),
		STR_INIT("2026-11-15T12:00:00Z"),
		STR_INIT("---"),
		STR_INIT("--- a"),
		STR_INIT("..."),
		STR_INIT("- a"),
		STR_INIT("-"),
		STR_INIT("--flag=1"),
		STR_INIT("? a"),
		STR_INIT("?"),
		STR_INIT(":"),
		STR_INIT(":80"),
		STR_INIT("{a}"),
		STR_INIT("[a]"),
		STR_INIT("a, b"),
		STR_INIT("*a"),
		STR_INIT("&a"),
		STR_INIT("!a"),
		STR_INIT("|"),
		STR_INIT(">"),
		STR_INIT("%a"),
		STR_INIT("@a"),
		STR_INIT("`a"),
		STR_INIT("'a'"),
		STR_INIT("\"a\""),
		STR_INIT("it's"),
		STR_INIT("a\\b"),
		STR_INIT("<<"),
		STR_INIT("="),
		STR_INIT("a\nb"),
		STR_INIT("a\nb\n"),
		STR_INIT("a\n\n"),
		STR_INIT("\n"),
		STR_INIT("\na"),
		STR_INIT(" a\nb"),
		STR_INIT("a\n b\n"),
		STR_INIT("a \nb"),
		STR_INIT("\ta\nb"),
		STR_INIT("a\n\tb\n"),
		STR_INIT("a\n\nb\n"),
		STR_INIT("a\n---\nb\n"),
		STR_INIT("a\r\nb"),
		STR_INIT("a\tb"),
		STR_INIT("\t"),
		STR_INIT("\x01\x1f\x7f"),
		STR_INIT("a\0b"),
		STR_INIT("\xc2\x85"),
		STR_INIT("a\xe2\x80\xa8"
		         "b"),
		STR_INIT("\xef\xbb\xbf"),
		STR_INIT("\xef\xbf\xbf"),
		STR_INIT("\xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80"),
		STR_INIT("\xc2\xa0"),
		STR_INIT("10.0.0.1"),
		STR_INIT("500m"),
		STR_INIT("1Gi"),
		STR_INIT("a.b/c"),
		STR_INIT("with \"quotes\" inside"),
		STR_INIT("a # b\nc: d\n"),
		STR_INIT("#\n"),
		STR_INIT("a\n\n\n"),
		STR_INIT("\n\n"),
		STR_INIT("a\n "),
	};
	static const char alphabet[] = "ab01 \t\n:-#'\"\\,[]{}&*!|>%@`?~._+eExyn=<\r\x02\x7f";
	size_t n;

	if (!rng_one_in(r, 3))
		return nasty[rng_below(r, ARRAY_LEN(nasty))];
	n = rng_below(r, 20);
	for (size_t i = 0; i < n; i++)
		room[i] = alphabet[rng_below(r, sizeof(alphabet) - 1)];
	return (struct str){ room, n };
}

static inline yyjson_mut_val *random_scalar(struct rng *r, yyjson_mut_doc *doc, bool nulls)
{
	static const double reals[] = {
		0.0, -0.5, 1.0, 1e3, 1e20, 1e21, 1e100, 1e-7, 0.1, 3.25e-300, 1.7976931348623157e308
	};
	char room[64];

	switch (rng_below(r, 8)) {
	case 0:
		return nulls ? yyjson_mut_null(doc) : yyjson_mut_int(doc, 0);
	case 1:
		return yyjson_mut_bool(doc, rng_one_in(r, 2));
	case 2:
		return yyjson_mut_sint(doc, (int64_t)rng_next(r) >> rng_below(r, 64));
	case 3:
		return yyjson_mut_uint(doc, rng_next(r));
	case 4:
		return yyjson_mut_real(doc, reals[rng_below(r, ARRAY_LEN(reals))]);
	default:
		return json_mut_str(doc, random_text(r, room));
	}
}

/* With NULLS false no null stands anywhere. */
static inline yyjson_mut_val *random_tree(struct rng *r, yyjson_mut_doc *doc, unsigned depth, bool nulls)
{
	size_t n = rng_below(r, 5);
	yyjson_mut_val *val;
	char room[64];

	switch (depth ? rng_below(r, 5) : 4) {
	case 0:
	case 1:
		val = yyjson_mut_arr(doc);
		for (size_t i = 0; i < n; i++)
			yyjson_mut_arr_append(val, random_tree(r, doc, depth - 1, nulls));
		return val;
	case 2:
	case 3:
		val = yyjson_mut_obj(doc);
		for (size_t i = 0; i < n; i++)
			json_mut_put(doc, val, random_text(r, room), random_tree(r, doc, depth - 1, nulls));
		return val;
	default:
		return random_scalar(r, doc, nulls);
	}
}

static inline yyjson_doc *random_doc(struct rng *r, unsigned depth, bool nulls)
{
	yyjson_mut_doc *mut = yyjson_mut_doc_new(NULL);
	yyjson_doc *doc;

	yyjson_mut_doc_set_root(mut, random_tree(r, mut, depth, nulls));
	doc = yyjson_mut_doc_imut_copy(mut, NULL);
	yyjson_mut_doc_free(mut);
	return doc;
}

#endif
