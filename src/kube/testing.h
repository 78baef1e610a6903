/* For tests of watch.h: a machine, what it wishes and what it tells. */
#ifndef KUBE_TESTING_H
#define KUBE_TESTING_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "kube/watch.h"

/* A machine and what it has told. */
struct bench {
	struct watch *w;
	struct buf log;
};

static inline void on_sync(void *cookie)
{
	buf_put(&((struct bench *)cookie)->log, STR("sync "));
}

static inline void on_synced(void *cookie)
{
	buf_put(&((struct bench *)cookie)->log, STR("synced "));
}

static inline struct str name_of(yyjson_val *val)
{
	return json_str(json_at(val, "metadata", "name", NULL));
}

static inline void on_object(void *cookie, yyjson_val *val)
{
	buf_printf(&((struct bench *)cookie)->log, "+%.*s ", STR_F(name_of(val)));
}

static inline void on_gone(void *cookie, yyjson_val *val)
{
	buf_printf(&((struct bench *)cookie)->log, "-%.*s ", STR_F(name_of(val)));
}

static inline void on_trouble(void *cookie, int code, struct str message)
{
	buf_printf(&((struct bench *)cookie)->log, "%d(%.*s) ", code, STR_F(message));
}

static inline void on_back(void *cookie)
{
	buf_put(&((struct bench *)cookie)->log, STR("back "));
}

static inline void on_skipped(void *cookie, const struct skipped *s)
{
	buf_printf(&((struct bench *)cookie)->log, "%s%.*s/%.*s,%.*s,%.*s,%.*s,%.*s%s ", s->gone ? "-?" : "?",
	           STR_F(s->meta.ns), STR_F(s->meta.name), STR_F(s->meta.uid), STR_F(s->meta.rv), STR_F(s->job_uid),
	           STR_F(s->meta.owner_uid), s->large ? "" : "!");
}

static inline struct bench *bench_new(uint64_t seed)
{
	static const struct watch_config config = {
		.resource = { STR_INIT(""), STR_INIT("v1"), STR_INIT("pods"), true },
		.label_selector = STR_INIT("uid"),
		.page = 2,
		.line_max = 1000,
	};
	struct bench *b = xcalloc(1, sizeof(*b));
	struct watch_events ev = { on_sync, on_object, on_gone, on_synced, on_trouble, on_back, on_skipped, b };

	b->log = (struct buf)BUF_INIT(1 << 20);
	b->w = watch_new(&config, &ev, rng_seed(seed));
	return b;
}

static inline int setup(void **state)
{
	*state = bench_new(1);
	return 0;
}

static inline int teardown(void **state)
{
	struct bench *b = *state;

	watch_free(b->w);
	buf_release(&b->log);
	free(b);
	return 0;
}

/* What it has told since the last time. */
static inline void expect_log(struct bench *b, const char *want)
{
	assert_string_equal(buf_str(&b->log).p, want);
	buf_clear(&b->log);
}

#define LIST_PATH "/api/v1/pods?labelSelector=uid&limit="

static inline void expect_list(struct bench *b, const char *rest)
{
	struct watch_wish wish = watch_next(b->w);
	char path[200];

	assert_int_equal(wish.type, WISH_LIST);
	snprintf(path, sizeof(path), LIST_PATH "%s", rest);
	assert_string_equal(wish.path.p, path);
	assert_true(wish.idle_timeout > 0);
	assert_int_equal(watch_state(b->w), WATCH_LISTING);
	assert_int_equal(watch_next(b->w).type, WISH_NOTHING);
}

static inline void expect_watch(struct bench *b, const char *version)
{
	struct watch_wish wish = watch_next(b->w);
	char path[200];
	int64_t seconds;

	assert_int_equal(wish.type, WISH_WATCH);
	snprintf(
		path, sizeof(path),
		"/api/v1/pods?watch=true&allowWatchBookmarks=true&labelSelector=uid&resourceVersion=%s&timeoutSeconds=",
		version);
	assert_true(str_has_prefix(wish.path, str_c(path)));
	assert_true(str_int(str_sub(wish.path, strlen(path), 99), &seconds));
	assert_true(seconds >= 300 && seconds <= 600);
	assert_true(wish.idle_timeout >= SECONDS(80) && wish.idle_timeout <= MINUTES(10));
	assert_int_equal(watch_state(b->w), WATCH_WATCHING);
}

static inline msec expect_sleep(struct bench *b)
{
	struct watch_wish wish = watch_next(b->w);

	assert_int_equal(wish.type, WISH_SLEEP);
	assert_int_equal(watch_state(b->w), WATCH_WAITING);
	assert_int_equal(watch_next(b->w).type, WISH_NOTHING);
	watch_slept(b->w);
	return wish.delay;
}

static inline bool data(struct bench *b, const char *text)
{
	return watch_data(b->w, str_c(text));
}

static inline int ended(struct bench *b, int status, const char *body, msec lasted)
{
	return watch_ended(b->w, &(struct watch_end){ .status = status, .body = str_c(body), .lasted = lasted });
}

static inline void page(struct bench *b, const char *text)
{
	assert_true(data(b, text));
	ended(b, 200, "", 5);
}

#define META(version, token) "\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" token "\"}"
#define OBJ(name, version) "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, name, version) "{\"type\":\"" type "\",\"object\":" OBJ(name, version) "}\n"
#define PAGE(version, token, items) "{\"kind\":\"PodList\"," META(version, token) ",\"items\":[" items "]}\n"

/* Up to a watch that goes on from version 10. */
static inline void to_watch_anew(struct bench *b)
{
	buf_clear(&b->log);
	expect_list(b, "2");
	page(b, PAGE("10", "", OBJ("a", "3")));
	expect_log(b, "sync +a synced ");
	assert_int_equal(watch_state(b->w), WATCH_LISTED);
	expect_watch(b, "10");
}

static inline void to_watch(struct bench *b)
{
	assert_int_equal(watch_state(b->w), WATCH_EMPTY);
	to_watch_anew(b);
}

#define ERROR_EVENT(code) "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":" code ",\"message\":\"m\"}}\n"

#endif
