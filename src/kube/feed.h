/* Runs one watch: carries out what its state machine wishes, and puts what comes into the inbox. */
#ifndef KUBE_FEED_H
#define KUBE_FEED_H

#include "kube/auth.h"
#include "kube/certs.h"
#include "cluster/inbox.h"
#include "kube/watch.h"

struct feed;

struct feed_config {
	struct loop *loop;
	struct http_client *pool;
	struct kube_auth *auth;
	struct kube_certs *certs;
	struct inbox *inbox;
	enum resource resource;
	struct str kind; /* RES_JOB; must live as long as the feed */
	struct kube_resource where;
	struct str ns, label_selector;
	void (*wake)(void *cookie);
	/* 401, 403, 404, 5xx …, to a list (LIST) or a watch: for logs and readiness. May be NULL. */
	void (*trouble)(void *cookie, enum resource resource, struct str kind, bool list, int code, struct str message);
	/* As watch.h says it. May be NULL. */
	void (*back)(void *cookie);
	/* A page of a list, or a watch, has ended with that code. May be NULL. */
	void (*asked)(void *cookie, bool watch, int code, msec took);
	void *cookie;
	uint64_t seed;
};

struct feed *feed_new(const struct feed_config *c);
void feed_free(struct feed *f);
enum resource feed_resource(const struct feed *f);
/* Starts, or goes on after the authorisation was missing. */
void feed_go_on(struct feed *f);

#endif
