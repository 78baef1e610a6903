/*
 * The loop between a cluster and the plan: watch → cache → queue of jobs → gather → plan → apply.
 * It waits for nothing and asks no clock but the one it was given: whoever owns the loop calls
 * operator_step() when the cluster has something to say or the time has come.
 */
#ifndef OPERATOR_OPERATOR_H
#define OPERATOR_OPERATOR_H

#include "base/clock.h"
#include "cluster/cluster.h"
#include "kind/kind.h"
#include "operator/observer.h"
#include "plan/plan.h"

struct operator_config {
	struct plan_config plan;
	bool nodes;                    /* nodes are watched: node failure is looked at */
	size_t creates_max;            /* one job's creates that are in flight at once */
	size_t requests_max;           /* of all jobs, in flight at once; a quarter is kept for jobs that have few */
	size_t turns_max;              /* of one step: whoever owns the loop has other things to do as well */
	size_t jobs_open;              /* kept ready to be planned; the others are read again when they change */
	msec retry_initial, retry_max; /* back-off after an answer that was none */
	struct observer observer;
};

extern const struct operator_config operator_config_default;

struct operator_loop; /* the loop and all that it knows */

/* CLUSTER, KINDS and CLOCK must live as long as the operator. */
struct operator_loop *operator_new(struct cluster *cluster, struct kinds *kinds, const struct clock *clock,
                                   const struct operator_config *config);
/* Does what can be done now. Returns the time at which it wants to be called again though nothing
   happens; NEVER: not at all. */
msec operator_step(struct operator_loop *op);
/* Only takes what the cluster says: for one who does not lead, or is about to end. */
void operator_listen(struct operator_loop *op);
/* A list fails (kube.h): not for a watch, which goes on from where it was, and nobody tells when. If it is
   that of a kind's jobs, or of PodGroups, and will last, it is not waited for: the jobs of that kind are not served, or
   those that need a PodGroup say so, until there is a list. KIND: of jobs. */
enum trouble_heard {
	TROUBLE_OTHER, /* nothing that the operator minds, or not yet */
	TROUBLE_NEWS,  /* this is worth a line, which is appended to LINE */
	TROUBLE_KNOWN, /* it was told already */
};
enum trouble_heard operator_trouble(struct operator_loop *op, enum resource resource, struct str kind, int code,
                                    struct str message, struct buf *line);
/* Was everything listed once that can be, and with it what serves at least one kind? */
bool operator_ready(const struct operator_loop *op);
/* Can the jobs of that kind be listed? */
bool operator_serves(const struct operator_loop *op, struct str kind);
/* What cannot be listed, and why, a line each. */
void operator_troubles(const struct operator_loop *op, struct buf *out);

struct operator_stats {
	size_t ready, waiting; /* jobs in the queue: to be looked at now, and later */
	uint64_t adds, retries;
	size_t in_flight; /* requests */
	size_t jobs, pods, services, nodes, groups;
	size_t unread[RES_COUNT]; /* objects that are known by name only: they are too large */
};
struct operator_stats operator_stats(const struct operator_loop *op);
/* How many jobs of that kind are in each phase; PHASE_NONE: those without a record. */
void operator_phases(const struct operator_loop *op, struct str kind, size_t ret[static PHASE_COUNT]);

/* For people: what is known of the jobs of that name, of whatever kind, and what the plan is now, as a JSON list
   appended to OUT. Nothing is sent. False: there is none. */
bool operator_debug(struct operator_loop *op, struct str ns, struct str name, struct buf *out);

/* Requests in flight are forgotten. */
void operator_free(struct operator_loop *op);

#endif
