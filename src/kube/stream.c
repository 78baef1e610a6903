/* Answers that come in pieces, for as long as somebody reads them: logs, and watches that are not the operator's. */
#include "base/list.h"
#include "base/json.h"
#include "cluster/decode.h"
#include "kube/internal.h"

struct kube_stream {
	struct kube *kube;
	struct kube_stream_spec spec;
	char *path;
	struct kube_stream *prev, *next;
	struct http_call *http; /* NULL: it waits for authorisation */
	msec began;
	int tries;
};

static void stream_free(struct kube_stream *s)
{
	list_drop(&s->kube->streams, s);
	free(s->path);
	free(s);
}

static void stream_end(struct kube_stream *s, const struct http_answer *a)
{
	yyjson_doc *doc = a->body.n ? json_parse(a->body, NULL) : NULL;
	struct outcome o = { .code = a->status, .retry_after = a->retry_after, .message = str_c(a->problem) };
	struct kube_stream_spec spec = s->spec;
	msec took = loop_now(s->kube->loop) - s->began;

	decode_status(&o, yyjson_doc_get_root(doc));
	stream_free(s);
	spec.done(spec.cookie, &o, took);
	yyjson_doc_free(doc);
}

static bool stream_send(struct kube_stream *s);

static void stream_done(void *cookie, const struct http_answer *a)
{
	struct kube_stream *s = cookie;

	s->http = NULL;
	if (!a->status || a->status == HTTP_UNAUTHORIZED)
		kube_certs_doubt(s->kube->certs);
	if (a->status == HTTP_UNAUTHORIZED && ++s->tries < KUBE_TRIES) {
		kube_auth_refused(s->kube->auth);
		stream_send(s);
		return;
	}
	stream_end(s, a);
}

static bool stream_data(void *cookie, struct str piece)
{
	struct kube_stream *s = cookie;

	return s->spec.data(s->spec.cookie, piece);
}

/* False: it has ended. */
static bool stream_send(struct kube_stream *s)
{
	struct kube *k = s->kube;
	struct err e = ERR_INIT;
	struct str header;

	switch (kube_auth_header(k->auth, &header, &e)) {
	case KUBE_AUTH_WAIT:
		return true; /* auth_ready() sends it */
	case KUBE_AUTH_FAILED:
		stream_end(s, &(struct http_answer){ .problem = err_msg(&e), .never_sent = true });
		err_release(&e);
		return false;
	case KUBE_AUTH_HAVE:
		break;
	}
	s->http = http_send(k->watch_pool, &(struct http_request){
						   .path = str_c(s->path),
						   .accept = STR("application/json, */*"),
						   .authorization = header,
						   .idle_timeout = s->spec.idle_timeout,
						   .data = stream_data,
						   .done = stream_done,
						   .cookie = s,
					   });
	return true;
}

void kube_streams_go_on(struct kube *k)
{
	for (struct kube_stream *s = k->streams, *later; s; s = later) {
		later = s->next;
		if (!s->http)
			stream_send(s);
	}
}

struct kube_stream *kube_stream_open(struct kube *k, const struct kube_stream_spec *spec)
{
	struct kube_stream *s = xcalloc(1, sizeof(*s));

	s->kube = k;
	s->spec = *spec;
	s->path = xstrndup(spec->path.p, spec->path.n);
	s->began = loop_now(k->loop);
	list_push(&k->streams, s);
	return stream_send(s) ? s : NULL;
}

void kube_stream_pause(struct kube_stream *s)
{
	if (s->http)
		http_pause(s->http);
}

void kube_stream_go_on(struct kube_stream *s)
{
	if (s->http)
		http_go_on(s->http);
}

void kube_stream_close(struct kube_stream *s)
{
	if (!s)
		return;
	if (s->http)
		http_cancel(s->http);
	stream_free(s);
}
