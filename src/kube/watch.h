/*
 * One watch as an explicit state machine: empty → listing (pages) → listed → watching → … It owns no
 * connection: it says which request comes next and is told what came back, so it is tested without a server.
 * Pages and watches are streams; one object at a time is held.
 */
#ifndef KUBE_WATCH_H
#define KUBE_WATCH_H

#include "base/rng.h"
#include "kube/request.h"

enum watch_state {
	WATCH_EMPTY,   /* a list must begin */
	WATCH_LISTING, /* some pages have come */
	WATCH_LISTED,  /* we know where a watch goes on */
	WATCH_WATCHING,
	WATCH_WAITING, /* before it tries again */
};

struct watch; /* of one resource, and for jobs of one kind */

/* What the machine tells whoever runs it. Values are valid until the call returns; the calls must not free
   the machine. */
struct watch_events {
	/* A full list begins. It may come again before `synced` does: then the list before was broken off, says
	   nothing about what is gone, and all of it comes anew. Nothing but objects comes until `synced`. */
	void (*sync)(void *cookie);
	void (*object)(void *cookie, yyjson_val *val); /* is there or has changed; may come twice */
	void (*gone)(void *cookie, yyjson_val *val);   /* its last state */
	void (*synced)(void *cookie);                  /* the list is whole: what was not in it is gone */
	/* For logs and readiness; the machine goes on with back-off. CODE: HTTP's, or 0. */
	void (*trouble)(void *cookie, int code, struct str message);
	/* The list that is about to be `synced` shows an earlier moment than what was told before: an older state of
	   the cluster was put back. May be NULL. */
	void (*back)(void *cookie);
	/* Instead of `object` or `gone`: it is too large, or no JSON, and was not read. In a list its name may be
	   missing, too; then nothing that is not in the list is known to be gone. May be NULL. */
	void (*skipped)(void *cookie, const struct skipped *s);
	void *cookie;
};

struct watch_config { /* copied */
	struct kube_resource resource;
	struct str ns, label_selector, field_selector;
	int page;        /* 500; more after a list whose token expired before its end */
	size_t line_max; /* of one event or item; a longer one is skipped */
};

struct watch *watch_new(const struct watch_config *c, const struct watch_events *ev, struct rng rng);
void watch_free(struct watch *w);
enum watch_state watch_state(const struct watch *w);

/* What shall be done now. NOTHING: what was wished before has not been answered. */
enum watch_wish_type { WISH_NOTHING, WISH_LIST, WISH_WATCH, WISH_SLEEP };
struct watch_wish {
	enum watch_wish_type type;
	struct str path;   /* LIST, WATCH; valid until the next call */
	msec idle_timeout; /* LIST, WATCH: without a byte for so long it is broken off */
	msec delay;        /* SLEEP */
};
struct watch_wish watch_next(struct watch *w);

/* LIST, WATCH: a piece of a 2xx answer. False: break it off. */
bool watch_data(struct watch *w, struct str piece);
struct watch_end {
	int status;      /* 0: no answer came. A stream that broke off or was broken off has the one it began with */
	struct str body; /* of an answer that was not streamed; with status 0: why */
	msec retry_after;
	msec lasted; /* since the request was sent */
};
/* LIST, WATCH: comes exactly once for each wish. Returns what the server said: the status, or the code of the
   event that ended the stream. */
int watch_ended(struct watch *w, const struct watch_end *end);
/* SLEEP: the delay is over. */
void watch_slept(struct watch *w);

#endif
