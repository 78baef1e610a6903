/* A cluster that a script moves: pods run, end and vanish when a step says so; what the plan asks for
   is done at once, but a running pod that is to go stays until a step lets it. Time stands still
   unless a step lets it pass. */
#ifndef GOLDEN_STAGE_H
#define GOLDEN_STAGE_H

#include "golden.h"

#include "base/map.h"
#include "plan/plan.h"

struct stage_pod {
	struct pod pod;
	struct container *containers;
	yyjson_doc *doc; /* as it was created */
};

struct stage {
	struct golden *g;
	struct str path; /* the step that is being played, for messages */
	struct arena a;
	const struct kind *kind;
	yyjson_mut_doc *object; /* not owned */
	yyjson_doc *read;       /* OBJECT as KJ has read it */
	struct kind_job *kj;
	yyjson_doc *status; /* as stored; NULL: none */
	VEC(struct stage_pod *) pods;
	VEC(struct service *) services;
	VEC(yyjson_doc *) docs; /* of all pods that ever were */
	struct map nodes;
	struct fleet fleet;
	msec now, wake;
	int serial;
	bool job_deleted;
	bool broken; /* the kind's code failed: said once */
};

void stage_open(struct stage *s, struct golden *g, const struct kind *kind, yyjson_mut_doc *object, yyjson_val *status);
void stage_close(struct stage *s);
/* Reads the object anew after an edit. */
void stage_reload(struct stage *s);
/* Plans and applies until nothing is left to do. */
void stage_settle(struct stage *s);
/* Lets time pass; looks only when the plan asked for it. */
void stage_pass(struct stage *s, msec d);
/* The pod of "worker-1" that is not gone, or NULL. */
struct stage_pod *stage_pod(struct stage *s, struct str replica);
/* The node that is so called; made if need be. */
struct node *stage_node(struct stage *s, struct str name);

/* events.c: what can happen, by the name of its key; ends with NULL. */
struct event {
	const char *name;
	void (*fn)(struct stage *s, yyjson_val *value);
};
extern const struct event events[];

#endif
