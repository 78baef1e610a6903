/*
 * Companions: auxiliary replicas that the operator puts beside a job of any kind. A companion is a role of one pod that
 * does not count, is kept running, outlives the job's end, and has a service for people. Role, names, service, TTL,
 * address and how it runs on one machine are the same for all; what differs is in its type, made in a file of its own
 * (tensorboard.c).
 */
#ifndef JOB_COMPANION_H
#define JOB_COMPANION_H

#include "base/str.h"

#include <yyjson.h>

enum companion_id { COMPANION_TENSORBOARD, COMPANION_COUNT };

enum { COMPANION_SERVICE_PORT = 80 };

/* The service is for people, so the choices are Kubernetes' own. */
enum service_type { SERVICE_CLUSTER_IP, SERVICE_NODE_PORT, SERVICE_LOAD_BALANCER };

struct companion_type {
	/* Lower case: of its role, in spec.policy, of its address in the record, in its children's names. */
	const char *name;
	const char *title;                 /* for messages */
	const char *annotation;            /* on its pod: whoever runs it on one machine knows it by that */
	int port;                          /* where it listens */
	const char *port_name;             /* of its service */
	const char *host_flag, *port_flag; /* how its command is given another host and port */
	const char *install;               /* what to type where its command is missing */
};

/* The companion of a job; of a role that is none, there is none (NULL). */
struct companion {
	enum companion_id id;
	struct str name;    /* of its pod and its service, where the kind names them; empty: the common one */
	yyjson_val *labels; /* of both, beside ours: an object of texts, or NULL */
	enum service_type service;
	int64_t ttl; /* seconds after the job's end; -1: until the job is deleted */
};

const struct companion_type *companion_type(enum companion_id id);
/* COMPANION_COUNT: there is none of that name. */
enum companion_id companion_named(struct str name);
/* By its annotation; NULL: the pod is no companion. */
const struct companion_type *companion_of_pod(yyjson_val *pod);
/* The name of the volume that a companion has at /tmp, in A. */
struct arena;
struct str companion_tmp(const struct companion_type *t, struct arena *a);

const char *service_type_name(enum service_type t);

#endif
