/* A real API server as a cluster (cluster.h): two pools of connections, one for watches and one for
   calls; deadlines on everything; retry with jitter where that is safe. */
#ifndef KUBE_KUBE_H
#define KUBE_KUBE_H

#include "cluster/cluster.h"
#include "kube/auth.h"
#include "kube/request.h"

struct kube;

struct kube_kind {
	struct str id; /* TfJob.mlkube.io */
	struct kube_resource resource;
};

struct kube_options {
	bool calls_only; /* nothing is watched: kube_raw() and kube_stream_open() only */
	struct str ns;   /* watched namespace; empty: all */
	bool nodes;      /* watch nodes (not in namespaced mode) */
	/* Where the resources are that a cluster need not have; watched if the plural is set. */
	struct kube_resource optional[RES_COUNT];
	size_t connections; /* of the pool for calls; 32 */
	double qps;         /* 0: no limit on our side */
	size_t burst;
	msec request_timeout;
	struct str user_agent;
	uint64_t seed; /* of the jitter */
	/* Whenever there is something for cluster_next(). NULL with calls_only. */
	void (*wake)(void *cookie);
	/* A list (LIST) or watch fails: code 0 is no answer. For logs and readiness. May be NULL. */
	void (*trouble)(void *cookie, enum resource resource, struct str kind, bool list, int code, struct str message);
	/* For metrics: a page of a list has come, or a watch has ended; CODE: HTTP's, or that of the error which
	   ended the watch; TOOK: until the answer began. May be NULL. */
	void (*asked)(void *cookie, bool watch, int code, msec took);
	/* A list shows an earlier moment than was known before: an older state of the cluster was put back, and what
	   is known of it is worth nothing. May be NULL. */
	void (*back)(void *cookie);
	/* Certificate files have changed and are in use, or (PROBLEM) could not be. May be NULL. */
	void (*certs)(void *cookie, const char *problem);
	void *cookie;
};

struct kube *kube_new(struct loop *l, const struct kube_config *c, const struct kube_options *o, struct err *e);
void kube_free(struct kube *k);
struct cluster *kube_cluster(struct kube *k);

/* Which kinds are watched; may be called again when kinds are added or removed. */
void kube_set_kinds(struct kube *k, const struct kube_kind *kinds, size_t n);

/* Any other call (CRDs, Leases, Events): the same connections, authorisation, deadlines; no retry. */
struct kube_raw {
	enum http_method method;
	struct str path, body, content_type;
	msec timeout;
	void (*done)(void *cookie, const struct outcome *o, yyjson_val *answer);
	void *cookie;
};
void kube_raw(struct kube *k, const struct kube_raw *r);

/* A GET whose answer comes piece by piece (logs, a watch of one's own), over a connection of its own. */
struct kube_stream;
struct kube_stream_spec {
	struct str path;
	msec idle_timeout;                            /* no byte for so long: broken off; 0: none */
	bool (*data)(void *cookie, struct str piece); /* of a 2xx answer; false breaks it off */
	/* The stream is gone with it. CODE 2xx with a message: it broke off. TOOK: since it was opened. */
	void (*done)(void *cookie, const struct outcome *o, msec took);
	void *cookie;
};
/* NULL: `done` was called already, since there are no credentials. */
struct kube_stream *kube_stream_open(struct kube *k, const struct kube_stream_spec *s);
/* See http_pause(). */
void kube_stream_pause(struct kube_stream *s);
void kube_stream_go_on(struct kube_stream *s);
/* No callback comes any more. */
void kube_stream_close(struct kube_stream *s);

#endif
