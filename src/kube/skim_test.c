#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/skim.h"
#include "object/labels.h"

struct skim_case {
	bool event;
	const char *text;
	const char *want; /* type,namespace,name,uid,version,job,owner */
};

static void check(const struct skim *s, const char *want)
{
	static const enum skim_field order[] = { SKIM_TYPE,    SKIM_NAMESPACE, SKIM_NAME, SKIM_UID,
		                                 SKIM_VERSION, SKIM_JOB,       SKIM_OWNER };
	char got[4000] = "";

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		size_t n = strlen(got);

		snprintf(got + n, sizeof(got) - n, "%s%.*s", i ? "," : "", STR_F(skim_get(s, order[i])));
	}
	assert_string_equal(got, want);
}

/* In one piece, and cut anywhere. */
static void try_case(const struct skim_case *c)
{
	struct str text = str_c(c->text);

	for (size_t cut = 0; cut <= text.n; cut++) {
		struct skim s = skim_make(c->event);

		skim_read(&s, str_sub(text, 0, cut));
		skim_read(&s, str_sub(text, cut, text.n));
		check(&s, c->want);
	}
}

#define LONG64 "0123456789012345678901234567890123456789012345678901234567890123"
#define LONG320 LONG64 LONG64 LONG64 LONG64 LONG64

static const struct skim_case cases[] = {
	{ false, "", ",,,,,," },
	{ false, "[]", ",,,,,," },
	{ false, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"7\"}}",
	  ",n,a,u,7,," },
	/* As jobs come: sorted by key, and the name after much else. */
	{ false,
	  "{\"apiVersion\":\"v1\",\"metadata\":{\"annotations\":{\"name\":\"x\",\"a\":\"\\\\\\\"}{\"},"
	  "\"managedFields\":[{\"name\":\"y\",\"f\":[{}]}],\"name\":\"a\",\"uid\":\"u\"},\"spec\":{\"name\":\"z\"}}",
	  ",,a,u,,," },
	{ false, "{\"spec\":{\"metadata\":{\"name\":\"x\"}},\"metadata\":{\"x\":{\"metadata\":{\"name\":\"y\"}}}}",
	  ",,,,,," },
	{ true, "{\"type\":\"ADDED\",\"object\":{\"type\":\"x\",\"metadata\":{\"name\":\"a\"}}}", "ADDED,,a,,,," },
	{ true, "{\"object\":{\"metadata\":{\"name\":\"a\"}},\"type\":\"DELETED\"}", "DELETED,,a,,,," },
	/* An item is no event. */
	{ true, "{\"metadata\":{\"name\":\"a\"}}", ",,,,,," },
	{ false, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}", ",,,,,," },
	{ false,
	  "{ \"metadata\" : { \"labels\" : { \"x\":\"1\", \"" LABEL_UID "\" : \"j\" } ,\n\"ownerReferences\" : "
	  "[ { \"name\":\"o\", \"uid\" : \"w\" } ] , \"name\" : \"a\" } }",
	  ",,a,,,j,w" },
	/* Of several owners the one that the label names. */
	{ false,
	  "{\"metadata\":{\"labels\":{\"" LABEL_UID "\":\"j\"},\"ownerReferences\":[{\"uid\":\"v\"},{\"uid\":\"j\"},"
	  "{\"uid\":\"w\"}]}}",
	  ",,,,,j,j" },
	/* What is no text, has escapes or is too long is no name. */
	{ false, "{\"metadata\":{\"name\":5,\"uid\":null,\"namespace\":{\"name\":\"x\"},\"labels\":[\"name\",\"x\"]}}",
	  ",,,,,," },
	{ false, "{\"metadata\":{\"name\":\"a\\u003c\",\"n\\u0061me\":\"b\",\"uid\":\"u\"}}", ",,,u,,," },
	{ false, "{\"metadata\":{\"name\":\"" LONG320 "x\",\"uid\":\"" LONG320 "\"}}", ",,," LONG320 ",,," },
	{ false, "{\"metadata\":{\"" LONG320 "x\":\"a\",\"name\":\"b\"}}", ",,b,,,," },
	/* What is broken off, or no JSON. */
	{ false, "{\"metadata\":{\"name\":\"a\",\"uid\":\"u", ",,a,,,," },
	{ false, "]}{\"metadata\":{\"name\":\"a\"}}}}}]]", ",,a,,,," },
	{ false, "{\"metadata\":{\"name\":\"a\",}},:::", ",,a,,,," },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		try_case(&cases[i]);
}

/* However deep it goes. */
static void test_deep(void **state)
{
	struct skim s = skim_make(false);

	(void)state;
	skim_read(&s, STR("{\"x\":"));
	for (int i = 0; i < 100000; i++)
		skim_read(&s, STR("[{\"metadata\":{\"name\":\"x\","));
	for (int i = 0; i < 100000; i++)
		skim_read(&s, STR("}}]"));
	skim_read(&s, STR(",\"metadata\":{\"name\":\"a\"}}"));
	check(&s, ",,a,,,,");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
