/* What users say of a job. */
#ifndef SIM_WISH_H
#define SIM_WISH_H

#include "job/job.h"

enum { SIM_ROLES = 4 };

/* How a job is meant to go, where that is known beforehand. */
enum sim_script {
	SCRIPT_WILD,      /* anything may happen to it */
	SCRIPT_GOOD,      /* all that can succeed does */
	SCRIPT_FLAKY,     /* one replica fails in its first generations */
	SCRIPT_PERMANENT, /* the chief ends with a code that is not worth another try */
};

/* What users say of a job; rendered to a manifest of its kind. */
struct sim_wish {
	uint64_t serial; /* the same for all that differ only in what edits change */
	size_t kind;     /* row of the table in manifest.c */
	int32_t counts[SIM_ROLES];
	enum restart_policy restart;
	bool restart_said;
	enum scope scope;
	bool scope_said;
	int32_t limit, window;             /* -1: not said */
	int32_t time_limit, deadline, ttl; /* -1: not said */
	enum clean clean;
	bool clean_said;
	enum role_end complete, fail; /* of the role that works */
	bool complete_said, fail_said;
	bool suspend, invalid, init;
	bool ordered;                /* startAfter: the role that works waits for the first */
	bool elastic;                /* members come and go: one kind only */
	bool in_place;               /* the kubelet restarts its containers by a rule of their own */
	bool sidecar;                /* another container beside the one that counts */
	bool sidecar_again;          /* … that is started again in place whenever it ends */
	int32_t tolerate;            /* seconds on a node that does not answer; -1: not said; TOLERATED_FOR_EVER */
	bool tensorboard, own_board; /* has one; said in the kind's own field */
	int32_t tensorboard_ttl;     /* … -1: not set */
	const char *annotation;      /* NULL, Preempted, Failed, NodeFail */
	enum sim_script script;
	int32_t flaky; /* generations in which it fails */
};

#endif
