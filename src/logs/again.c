#include "logs/again.h"

#include "logs/pod.h"

enum { ANSWER_MAX = 8 << 20 };

struct log_asking {
	struct remote *remote;
	struct log_run run;
	struct kube_stream *stream;
	struct buf answer;
	bool opening, over;
	void (*done)(void *cookie, enum log_again where, int code, struct str message);
	void *cookie;
};

/* -1: it has none yet. */
static int64_t restarts_of(yyjson_val *pod, struct str container)
{
	static const char *const lists[] = { "containerStatuses", "initContainerStatuses" };

	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		yyjson_val *v;
		size_t i, max;
		int64_t count;

		yyjson_arr_foreach(json_at(pod, "status", lists[k], NULL), i, max, v)
		{
			if (str_eq(json_str(json_get(v, "name")), container) &&
			    json_int(json_get(v, "restartCount"), &count))
				return count;
		}
	}
	return -1;
}

enum log_again log_again_judge(const struct log_run *r, int code, yyjson_val *pod)
{
	struct log_pod now;
	int64_t restarts;

	if (code == HTTP_NOT_FOUND)
		return r->kept ? AGAIN_SAME : AGAIN_GONE;
	if (code == HTTP_UNAUTHORIZED || code == HTTP_FORBIDDEN)
		return AGAIN_REFUSED;
	if (code != HTTP_OK || !pod)
		return AGAIN_LATER;
	now = log_pod_read(pod);
	if (!str_eq(now.uid, r->uid))
		return r->kept && now.generation <= r->generation + 1 ? AGAIN_PREVIOUS : AGAIN_GONE;
	restarts = restarts_of(pod, r->container);
	if (restarts <= r->restarts)
		return AGAIN_SAME;
	return restarts == r->restarts + 1 ? AGAIN_PREVIOUS : AGAIN_GONE;
}

static bool on_data(void *cookie, struct str piece)
{
	struct log_asking *a = cookie;

	buf_put(&a->answer, piece);
	return !a->answer.overflow;
}

static void on_done(void *cookie, const struct outcome *o, msec took)
{
	struct log_asking *a = cookie;
	bool whole = o->code == HTTP_OK && !o->message.n;
	yyjson_doc *doc CLEANUP(json_docp) = whole ? json_parse(buf_str(&a->answer), NULL) : NULL;
	enum log_again where =
		log_again_judge(&a->run, o->code == HTTP_OK && !doc ? 0 : o->code, yyjson_doc_get_root(doc));

	(void)took;
	a->stream = NULL;
	if (o->code == 0)
		remote_doubt(a->remote);
	else
		remote_heard(a->remote);
	a->over = true;
	a->done(a->cookie, where, o->code, o->message);
	if (!a->opening)
		log_asking_free(a);
}

struct log_asking *log_ask(struct remote *remote, const struct log_run *r,
                           void (*done)(void *cookie, enum log_again where, int code, struct str message), void *cookie)
{
	struct log_asking *a = xcalloc(1, sizeof(*a));
	struct arena arena = ARENA_INIT;

	*a = (struct log_asking){
		.remote = remote, .run = *r, .answer = BUF_INIT(ANSWER_MAX), .done = done, .cookie = cookie
	};
	a->opening = true;
	a->stream = kube_stream_open(
		remote->kube,
		&(struct kube_stream_spec){
			.path = arena_printf(&arena, "/api/v1/namespaces/%.*s/pods/%.*s", STR_F(r->ns), STR_F(r->pod)),
			.idle_timeout = SECONDS(30),
			.data = on_data,
			.done = on_done,
			.cookie = a });
	a->opening = false;
	arena_release(&arena);
	if (a->stream)
		return a;
	log_asking_free(a);
	return NULL;
}

void log_asking_free(struct log_asking *a)
{
	if (!a)
		return;
	kube_stream_close(a->stream);
	buf_release(&a->answer);
	free(a);
}
