/* What the files of a kube share. */
#ifndef KUBE_INTERNAL_H
#define KUBE_INTERNAL_H

#include "cluster/inbox.h"
#include "kube/certs.h"
#include "kube/feed.h"
#include "kube/kube.h"
#include "kube/pace.h"

enum { KUBE_TRIES = 3 };

struct kube_call;

struct kube {
	struct cluster cluster; /* first: a pointer to it is a pointer to this */
	struct loop *loop;
	struct kube_config config;
	struct kube_options options;
	struct kube_auth *auth;
	struct kube_certs *certs;
	struct http_client *calls_pool, *watch_pool;
	struct inbox inbox;
	struct pace pace;
	struct loop_timer *pace_timer;
	struct kube_call *calls; /* all that are not answered, the newest first */
	struct kube_stream *streams;
	struct feed **feeds;
	size_t n_feeds;
	struct kube_kind *kinds; /* owned copies */
	size_t n_kinds;
	struct arena kinds_arena;
};

/* stream.c: those that waited for authorisation are sent. */
void kube_streams_go_on(struct kube *k);

#endif
