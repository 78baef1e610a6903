/*
 * A cluster on virtual time, with everything that can go wrong in one, from one seed. The real operator
 * runs on it; checkers look at every write that reaches the simulated API server.
 *
 *   server.c   what Kubernetes promises of objects, and no more; server_pods.c, server_jobs.c
 *   link.c     an operator and its end of the way to the server; stream.c what it is shown; wire.c its requests
 *   faults.c   what goes wrong between them; admission.c who may refuse
 *   groups.c   PodGroups and who schedules them
 *   load.c     an operator that has much to do, and deadlines meanwhile
 *   sizes.c    objects that are too large to be read
 *   kubelet.c  what becomes of pods; nodes.c what becomes of nodes; users.c what people do
 *   check.c    what must hold at every step; settle.c what must hold when all is quiet; work.c how much is done;
 *              truth.c what really succeeded
 *   mutant.c   defects that are planted on purpose, to see that the checkers find them
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/arena.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/rng.h"
#include "sim/invariant.h"
#include "sim/link.h"
#include "sim/objects.h"
#include "sim/tally.h"
#include "sim/wire.h"

enum {
	SIM_NODES = 8,
	SIM_STABLE = 3, /* the first of them never fail: jobs with a known end run there */
	SIM_JOBS = 6,   /* that users like to have around */
	SIM_NAMES = 9,  /* that they give their jobs */
	SIM_GRACE = 30,
	SIM_CREATING = 20000, /* ms: so long a pod that cannot be created is waited for */
	SIM_TOLERATION = 60,  /* seconds on a node that does not answer, for pods that say nothing of it */
};

enum event_type {
	EV_ARRIVE,
	EV_REPLY,
	EV_WATCH,
	EV_LIST,
	EV_OPERATOR,
	EV_DEPOSE, /* a former leader stops */
	EV_START,  /* an operator starts */
	EV_POD,
	EV_NODE,
	EV_TAINTS,
	EV_GROUP,
	EV_USERS,
	EV_FAULTS,
	EV_STORM,   /* pods change, and change again */
	EV_COLLECT, /* garbage of a job that is gone */
	EV_COUNT
};

struct sim_event {
	struct heap_node node;
	enum event_type type;
	void *what;
	size_t number;
};

struct sim_options {
	uint64_t seed;
	size_t steps;
	bool trace;
	FILE *trace_to;
	int mutant; /* enum sim_mutant */
};

struct sim {
	struct sim_options opt;
	struct arena *arena;
	struct rng rng;
	msec now;
	size_t step;
	struct heap events;
	struct clock clock;
	struct kinds *kinds;
	struct sim_tally *tally;
	bool quiet; /* faults have stopped */
	bool busy;  /* the run is about load: see load.c */
	msec storm_until;
	size_t storm; /* which jobs it is about */

	uint64_t rv, uid, wishes;
	struct map jobs_by_name, jobs_by_uid; /* sim_job */
	struct sim_job *all_jobs;
	VEC(struct sim_spec) specs; /* all that were read */
	size_t n_jobs;              /* that exist */
	struct map pods, services;  /* by name */
	struct sim_node nodes[SIM_NODES];
	msec quota_until, webhook_until, registry_until;
	msec denied, deny_again; /* a policy denies all pods and services until then; the next one does not before */
	int deny_code;
	enum gang_kind gang;
	struct map groups;  /* by name */
	msec groups_absent; /* the server knows none until then */
	size_t n_foreign;

	struct sim_link *link;   /* the operator of today; NULL: there is none */
	struct sim_link *former; /* one that was leader and still acts; NULL: none */
	struct sim_request *in_flight;
	struct sim_event *users, *faults, *start, *depose;
	msec last_write; /* of an operator */

	/* How much it does: requests of one call, calls at one time, creates of one name. */
	size_t sent_now, calls_now;
	msec called;
	struct map tries; /* by resource and name */

	enum invariant broken;
	char why[512];

	/* Of a mutant. */
	size_t mutant_n;
	struct sim_request mutant_create;
};

/* sim.c: runs one seed. False: an invariant was broken (s->broken, s->why, s->step). The memory of the
   run is MEMORY's, which is emptied first. */
bool sim_run(struct sim *s, struct kinds *kinds, const struct sim_options *opt, struct sim_tally *tally,
             struct arena *memory);
void sim_release(struct sim *s);
struct sim_event *sim_at(struct sim *s, msec at, enum event_type type, void *what);
void sim_move(struct sim *s, struct sim_event *ev, msec at);
void sim_cancel(struct sim *s, struct sim_event *ev);
void sim_broken(struct sim *s, enum invariant which, const char *fmt, ...) PRINTF_LIKE(3, 4);
void sim_trace_line(struct sim *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
#define TRACE(s, ...)                                                                                                  \
	do {                                                                                                           \
		if ((s)->opt.trace)                                                                                    \
			sim_trace_line((s), __VA_ARGS__);                                                              \
	} while (0)
/* True in one of N cases, never when all is quiet. */
bool sim_chance(struct sim *s, uint64_t n);
msec sim_between(struct sim *s, msec from, msec to);
/* JSON whose memory is the run's. */
const yyjson_alc *sim_alc(struct sim *s);

#endif
