/* How fast are an API server's streams read? A pod of 5 KB, as the server sends it, becomes a struct pod; the bytes
   come in pieces of 16 KB, as the network gives them. */
#include "bench.h"

#include "kube/config.h"
#include "cluster/decode.h"
#include "kube/watch.h"

enum { EVENTS = 20000, PIECE = 16 << 10 };

struct sink {
	struct arena arena;
	size_t pods;
};

static void nothing(void *cookie)
{
	(void)cookie;
}

static void count(void *cookie, yyjson_val *val)
{
	struct sink *s = cookie;
	struct pod pod;

	s->pods += decode_pod(&pod, val, &s->arena, NULL);
	arena_reset(&s->arena);
}

static void complain(void *cookie, int code, struct str message)
{
	(void)cookie;
	BUG("%d %.*s", code, STR_F(message));
}

static void feed(struct watch *w, struct str text)
{
	for (size_t at = 0; at < text.n; at += PIECE)
		ASSERT(watch_data(w, str_sub(text, at, PIECE)));
}

static void put_many(struct buf *b, const char *before, struct str pod, const char *between, const char *after)
{
	buf_clear(b);
	buf_put(b, str_c(before));
	for (int i = 0; i < EVENTS; i++) {
		buf_put(b, i ? str_c(between) : STR_NONE);
		buf_put(b, pod);
	}
	buf_put(b, str_c(after));
}

void bench_kube(void)
{
	static const struct watch_config config = {
		.resource = { STR_INIT(""), STR_INIT("v1"), STR_INIT("pods"), true }, .page = 500, .line_max = 1 << 20
	};
	struct sink sink = { ARENA_INIT, 0 };
	struct watch_events ev = { nothing, count, count, nothing, complain, NULL, NULL, &sink };
	struct watch *w = watch_new(&config, &ev, rng_seed(1));
	struct watch_end end = { .status = 200, .lasted = MINUTES(5) };
	struct buf b = BUF_INIT(1 << 30);
	struct arena a = ARENA_INIT;
	struct str pod = STR_NONE;
	double start;

	if (file_read(&pod, CORPUS "/decode/pod.json", &a, NULL) != FILE_READ) {
		bench_broken("pods of an API server", "the sample is not there");
		return;
	}
	pod = str_trim(pod);
	put_many(&b, "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[", pod, ",", "]}");
	watch_next(w);
	start = bench_now();
	feed(w, buf_str(&b));
	bench_result("a pod of a list", (bench_now() - start) * 1e6 / EVENTS, LESS_IS_BETTER, 30, "us");
	watch_ended(w, &end);
	put_many(&b, "{\"type\":\"ADDED\",\"object\":", pod, "}\n{\"type\":\"MODIFIED\",\"object\":", "}\n");
	watch_next(w);
	start = bench_now();
	feed(w, buf_str(&b));
	bench_result("a pod of a watch", (bench_now() - start) * 1e6 / EVENTS, LESS_IS_BETTER, 15, "us");
	ASSERT(sink.pods == 2 * (size_t)EVENTS);
	watch_free(w);
	buf_release(&b);
	arena_release(&a);
	arena_release(&sink.arena);
}
