/* A store in memory for tests, on a clock that the test moves, and short ways to ask it. */
#ifndef LOCAL_STORE_TESTING_H
#define LOCAL_STORE_TESTING_H

#include "base/json.h"
#include "base/rng.h"
#include "local/store/store.h"

struct fixture {
	struct store *store;
	msec now;
	struct clock clock;
	struct arena arena;
	int wakes;
	/* The answer to what was asked last. */
	struct store_answer answer;
	yyjson_doc *doc;
};

/* For cmocka. The namespace `ml` is there. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* Of the newest version that there is. */
const struct store_type *type_named(struct fixture *f, const char *plural);
/* Asks, and returns the code. */
int ask(struct fixture *f, struct store_request r);
/* In namespace `ml`, where the type has any. */
int create(struct fixture *f, const char *plural, const char *body);
int get(struct fixture *f, const char *plural, const char *name);
int update(struct fixture *f, const char *plural, const char *name, const char *body);
int update_status(struct fixture *f, const char *plural, const char *name, const char *body);
int merge_patch(struct fixture *f, const char *plural, const char *name, const char *body);
int patch_as(struct fixture *f, enum store_patch how, const char *plural, const char *name, const char *body);
int delete_one(struct fixture *f, const char *plural, const char *name, const char *options);
int list(struct fixture *f, const char *plural, const char *labels, const char *fields);
/* store_step() until nothing is to be done now; returns when something will be. */
msec settle(struct fixture *f);

/* The answer's value at "metadata.labels.a" or "items.0.metadata.name", as text: strings as they are, anything else
   as JSON; NULL: it is not there. Valid until the next question. */
const char *said(struct fixture *f, const char *path);
#define assert_said(f, path, text) assert_string_equal(said((f), (path)), (text))
#define assert_unsaid(f, path) assert_null(said((f), (path)))
/* printf into the fixture's arena. */
const char *fmt(struct fixture *f, const char *format, ...) PRINTF_LIKE(2, 3);

/* The sample NAME of test/fuzz/corpus/object with each of its values as every other type: FN gets the text. */
void each_retyped(struct fixture *f, const char *name, void (*fn)(struct fixture *f, const char *text));
/* The sample itself. */
const char *sample(struct fixture *f, const char *name);

/* A CRD of widgets.example.org, kind Widget, with that JSON list of versions; NULL: v1 with a status. */
const char *widget_crd(struct fixture *f, const char *versions);

#define POD(name) "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"

#endif
