/* The inside of the plan: what exists, sorted by role and index once, so that every policy looks at
   replicas and not at lists of pods. Only files of this folder include it. */
#ifndef PLAN_WORLD_H
#define PLAN_WORLD_H

#include "plan/plan.h"

/* How a replica stands. */
enum verdict {
	V_ABSENT,    /* there is no pod for it */
	V_PENDING,   /* its pod is not scheduled yet */
	V_SCHEDULED, /* scheduled, not running yet */
	V_RUNNING,
	V_COMPLETED, /* succeeded in this generation, its pod may be gone */
	V_FAILED,    /* ended badly, or was lost: see cause */
	V_GIVEN_UP,  /* failed, and will not be started again in this generation */
};

struct replica {
	const struct pod *pod; /* of the present generation, or NULL; may be gone */
	const struct service *service;
	enum verdict verdict;
	/* V_FAILED */
	enum cause cause;
	int32_t exit_code; /* -1: none */
	msec finished;
	msec ran_for;  /* how long the containers that count ran; -1: not known, see replica_ran_for() */
	bool barren;   /* no container of it ever ran */
	bool hopeless; /* can never work as it is: no restart, whatever the policy */
	bool insist;   /* a restart, whatever the policy; the limit holds */
	/* An older pod of this replica is still there: its name is taken. */
	bool blocked;
};

struct role_view {
	const struct role *role;
	struct record_role *rec; /* in world.next */
	struct replica *replicas;
	int32_t n_old; /* pods of earlier generations that are still there */
};

struct world {
	const struct plan_input *in;
	struct arena *a;
	const struct job *job;
	const struct record *base;      /* the record as it was, in the job's order of roles */
	struct record *next;            /* … as it shall be */
	bool roles_changed;             /* the record knows other roles than the job has */
	struct role_view *roles;        /* as many as the job has */
	VEC(const struct pod *) doomed; /* pods that must go; none is gone */
	VEC(const struct service *) doomed_services;
	int32_t n_old;                 /* of all roles that count */
	int32_t n_stopping;            /* pods that a suspended job still has */
	bool raised;                   /* a generation was: what is sorted here belongs to the one before */
	bool gang_held;                /* the pods that count wait for their PodGroup */
	bool *passed;                  /* of each refusal: nothing of what was refused is missing */
	const struct child *undeleted; /* must go, and the server has refused it; NULL: none */
	enum resource undeleted_sort;
	VEC(struct action) actions;
	struct str lost_why, lost_text; /* of the first replica that was given up in this pass */
	msec now;
	msec stamp; /* now in whole seconds, as the record keeps times */
	msec wake, deadline;
};

/* The job's PodGroup; NULL: there is none. */
static inline const struct group *world_group(const struct world *w)
{
	return (const struct group *)w->in->sole[RES_GROUP].have;
}

/* world.c */
/* Opens the records; then, for a job without errors, sorts what exists by role and index. */
void world_open(struct world *w, const struct plan_input *in, struct arena *a);
void world_fill(struct world *w);
void world_wake(struct world *w, msec at);
struct action *world_act(struct world *w, enum action_type type, enum resource resource);
/* "worker-1" */
struct str replica_name(struct arena *a, const struct role *role, int32_t index);
/* NULL: the job has no such role. */
struct role_view *world_role(const struct world *w, struct str name);

/* judge.c: sets the verdicts of all replicas of the roles that count (or, with AUX, of those that do not). */
void judge_replicas(struct world *w, bool aux);
/* Only what the record says: for a job whose pods do not matter now. */
void judge_recorded(struct world *w);

/* ends.c */
/* How has the pod ended? RESULT_NONE: not yet. One that was disrupted, and not seen to end before, has failed by that,
   whatever its code says. */
enum result { RESULT_NONE, RESULT_SUCCESS, RESULT_FAILURE };
struct pod_result {
	enum result result;
	enum cause cause;
	int32_t exit_code;
	msec finished;
	msec ran_for;
};
struct pod_result pod_result(const struct role *role, const struct pod *pod);
/* Does that result count? What ended after somebody had asked for the pod's deletion does not: a script that catches
   SIGTERM and exits 0 has not succeeded. */
bool pod_ended_by_itself(const struct role *role, const struct pod *pod);
/* Why a pod that was deleted, and had not ended, is lost. */
enum cause pod_loss(const struct world *w, const struct pod *pod);
bool pod_is_disrupted(const struct pod *pod);
/* … for using more storage than its own limit allows. */
bool pod_is_evicted(const struct pod *pod);
/* Has a container of it ever run? */
bool pod_has_run(const struct pod *pod);
/* How long this attempt ran. Where the kubelet lost the times of its containers, or nobody saw their end, as long as
   the pod did, until now if need be; 0: not at all. */
msec replica_ran_for(const struct world *w, const struct replica *rep);
/* Are all codes ≠ 0 of the containers that count in CODES? */
bool pod_codes_retryable(const struct role *role, const struct code_set *codes, const struct pod *pod);

/* nodes.c */
enum node_state { NODE_GOOD, NODE_FAILED, NODE_GONE };
/* Of the node of a replica whose pod is placed and is to stay: whoever gives it time shall have it. */
enum node_state node_state_of(struct world *w, const struct role_view *v, const struct replica *rep);
/* … of a pod that only has to go: NODE_FAILED if it is time to take it out of the API by force, or, where nobody has
   asked for its deletion yet, if nobody is there to carry that out. */
enum node_state node_state_to_force(struct world *w, const struct pod *pod);
/* Nothing is known of the pod's node yet: it is asked for, and the answer is worth waiting for. */
bool node_is_asked_for(struct world *w, const struct pod *pod);
/* Is it known that the node does not answer now, or is gone? However short. */
bool node_is_down(const struct world *w, struct str name);

/* creating.c */
enum creating { CREATING_FINE, CREATING_RESTART, CREATING_FAILED, CREATING_HOPELESS };
enum creating creating_state(struct world *w, const struct pod *pod);
/* A replica that has run for so long shows that the job works, whatever others come to. */
msec creating_proof(const struct world *w);
/* Does that pod show it now? */
bool creating_is_proof(const struct world *w, const struct pod *pod);
/* May they end the job? Not one that works. */
bool creating_ends(const struct world *w);
/* The same where all pods of a job start together (the cluster on this machine): that another role was a moment faster
   says nothing of this one. */
bool creating_ends_whole(const struct world *w, const struct role_view *v);
/* The container that cannot be created, or NULL. */
const struct container *creating_problem(const struct pod *pod);

/* backoff.c */
msec backoff_delay(const struct restart *r, int32_t streak);
/* Counts a restart at this level. BARREN: of a pod that never ran, for a cause that does not count. */
void backoff_hit(struct restart_level *l, const struct restart *r, msec stamp, bool barren);
/* The replica was quiet for so long that the next restart is a first one. */
bool backoff_is_quiet(const struct restart_level *l, const struct restart *r, msec now);
/* The replica may not be made before this. */
msec backoff_until(const struct world *w, const struct role_view *v, int32_t index);

/* limit.c */
/* Has a replica that failed, or were to fail now, by this used up its restarts? */
bool limit_is_reached(const struct world *w, const struct role_view *v, const struct replica *rep, enum cause cause);
/* Counts the restart of a failed replica; RAISED is where the generation is. */
void limit_hit(struct world *w, struct role_view *v, int32_t index, struct restart_level *raised);
/* How near each role is to its limit, for the status. */
void limit_show(struct world *w);

/* restart.c */
/* Does the policy start replicas again that were lost with their node? */
bool restart_covers_nodes(enum restart_policy p);
/* The rules for one replica: the role's, or the chief's own. */
const struct restart *restart_rules(const struct world *w, const struct role_view *v, int32_t index);
/* May this failed replica start again? If not, *WHY is one word and *TEXT the reason for people. */
bool restart_allowed(const struct world *w, const struct role_view *v, const struct replica *rep, struct str *why,
                     struct str *text);
/* Failed replicas that may not restart are given up; those that may get a higher generation in next. */
void restart_give_up(struct world *w);
void restart_apply(struct world *w);
/* Raises one generation. V is NULL for a restart that no replica caused. */
void restart_raise(struct world *w, enum scope scope, enum cause cause, struct role_view *v, int32_t index,
                   int32_t exit_code);
/* The same for replicas that do not count: they are always started again. */
void restart_aux(struct world *w);

/* companion.c */
/* Is it a companion that has outlived the job for as long as it should? Wakes when it will have. */
bool companion_is_over(struct world *w, const struct role *role);
/* Where people find it, once it answers. */
void companion_addresses(struct world *w);

/* ending.c: endings by completion and failure. True if the job has ended; sets next's outcome. */
bool ending_check(struct world *w);
/* Sets the outcome, once. */
void ending_set(struct world *w, enum phase outcome, struct str why, struct str reason);
/* external.c */
bool external_check(struct world *w);
/* deadline.c */
bool deadline_check(struct world *w);
/* edit.c: true if the members changed so that the job must start again. */
bool edit_check(struct world *w);
/* suspend.c: true if it is or becomes suspended. */
bool suspend_check(struct world *w);
/* refusal.c */
bool refusal_check(struct world *w);
msec refusal_until(const struct refusal *r);
/* What was said to children of that sort and role; NULL: nothing. */
const struct refusal *refusal_of(const struct world *w, enum resource resource, struct str role);
/* They are not made before this; 0: they may be. */
msec refused_until(const struct world *w, enum resource resource, struct str role);
/* Does refusal number I keep the job from something that counts? */
bool refusal_holds(const struct world *w, size_t i);
/* Was it refused to delete that child, and is it too early to ask again? */
bool undeleted_holds(struct world *w, enum resource resource, const struct child *c);
/* There is no PodGroup to be written. */
void refusal_group_passed(struct world *w);
/* Services and PodGroups are not made before this: somebody takes them away. */
msec losses_until(const struct world *w);

/* children.c */
void children_create(struct world *w);
void children_delete(struct world *w);
/* start_after.c: the role that must be up before pods of V are made, and is not; NULL: there is none. */
const struct role_view *start_after_blocks(const struct world *w, const struct role_view *v);
/* What they wait for. */
struct str start_after_line(const struct world *w, const struct role_view *blocks);
/* gang.c: makes the PodGroup, or changes it; says whether the pods are held by it. */
void gang_keep(struct world *w);
/* Nothing of the job shall run. */
void gang_drop(struct world *w);
/* What the pods that are held wait for. */
struct str gang_line(const struct world *w);
/* cleanup.c: after the end. */
void cleanup(struct world *w);

/* phase.c: counts, phase, conditions, history. */
void phase_update(struct world *w);
void phase_enter(struct world *w, enum phase p);
/* The conditions, as the phase says. */
void phase_conditions(struct world *w);
/* reason.c: the one line. */
struct str reason_line(struct world *w);
/* What the replicas that do not run yet wait for; empty: all run. */
struct str reason_waiting(const struct world *w);
/* At most so many bytes of somebody else's text. */
struct str reason_clip(struct str s);

#endif
