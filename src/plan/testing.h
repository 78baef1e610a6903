/* A small world for the plan's tests: a job, what exists, a clock. Steps read like a history:
   t_run(), t_exit(), t_settle(), then what the record and the pods must say. */
#ifndef PLAN_TESTING_H
#define PLAN_TESTING_H

#include "plan/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { T_MAX_PODS = 64, T_MAX_CONTAINERS = 4 };

struct t_pod {
	struct pod pod;
	struct container containers[T_MAX_CONTAINERS];
	char name[64], uid[64];
};

struct t {
	struct arena a;
	struct job job;
	struct role roles[4];
	struct record *record; /* as read back from JSON */
	struct t_pod pods[T_MAX_PODS];
	size_t n_pods;
	struct service services[T_MAX_PODS];
	size_t n_services;
	struct group group;
	bool has_group;
	uint64_t group_kept;
	struct str groups_trouble;
	int groups_created, groups_patched, groups_deleted;
	struct map nodes;
	struct fleet fleet;
	struct plan_config config;
	struct refusal refusal, service_refusal, aux_refusal; /* kind REFUSED_NOT: there is none */
	struct str undeleted;
	struct losses losses;
	msec now, status_written;
	struct plan plan; /* the last one */
	int created, deleted, forced, services_created, services_deleted, jobs_deleted, nodes_asked, writes;
};

/* A job with no roles, at a fixed time; add roles with t_role(). */
struct t *t_new(void);
void t_free(struct t *t);
struct role *t_role(struct t *t, const char *name, int32_t count);
/* Sets a set of exit codes such as "128-255". */
void t_codes(struct role *role, const char *text);

/* One look: plans, keeps the record (through JSON, as the server would) if it is to be written. */
const struct plan *t_plan(struct t *t);
/* Carries out the last plan's actions: creates at once, deletes at once. */
void t_apply(struct t *t);
/* Plans and applies until nothing is left to do; fails the test if that takes too long. Checks that
   planning once more yields nothing. */
void t_settle(struct t *t);
/* Moves the clock. */
void t_pass(struct t *t, msec d);

struct t_pod *t_pod(struct t *t, const char *role, int32_t index); /* not gone; NULL if there is none */
struct t_pod *t_pod_add(struct t *t, const char *role, int32_t index, int64_t generation);
/* Everything that exists runs and is ready. */
void t_run(struct t *t);
/* The container of that replica ends with CODE; the pod's phase follows. */
void t_exit(struct t *t, const char *role, int32_t index, int32_t code);
/* Somebody deletes the pod: it is gone, its last state is kept. */
void t_vanish(struct t *t, const char *role, int32_t index);
struct node *t_node(struct t *t, const char *name, bool ready);
void t_on_node(struct t *t, const char *role, int32_t index, const char *node);

/* Short ways to look at the record. */
const char *t_phase(const struct t *t);
const struct record_role *t_rec(const struct t *t, const char *role);
const char *t_reason(const struct t *t);
size_t t_actions(const struct t *t, enum action_type type, enum resource resource);

#define assert_phase(t, want) assert_string_equal(t_phase(t), want)
#define assert_contains(text, want)                                                                                    \
	do {                                                                                                           \
		if (!strstr((text), (want)))                                                                           \
			fail_msg("\"%s\" does not contain \"%s\"", (text), (want));                                    \
	} while (0)

#endif
