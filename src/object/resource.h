/* What the operator reads and makes in a cluster. Whoever treats them alike asks for their traits, not for one of them.
   CONTRIBUTING.md lists what a new sort of child needs; `git grep RES_GROUP` shows the places. */
#ifndef OBJECT_RESOURCE_H
#define OBJECT_RESOURCE_H

#include "base/util.h"

#include <stdbool.h>

enum resource {
	RES_JOB,
	RES_POD,
	RES_SERVICE,
	RES_NODE,
	RES_GROUP, /* PodGroups, where there is a gang scheduler */
	RES_COUNT
};

struct resource_traits {
	const char *noun;   /* for messages */
	const char *plural; /* … as Kubernetes writes many of them in an address */
	bool child;         /* the operator makes them for a job … */
	bool of_replica;    /* … one for each replica; otherwise one for the whole job */
	bool optional; /* a cluster may not know them, or be told not to use them: nobody who can do without waits */
};

static inline const struct resource_traits *resource_traits(enum resource r)
{
	static const struct resource_traits traits[RES_COUNT] = {
		[RES_JOB] = { "job", "jobs", false, false, false },
		[RES_POD] = { "pod", "pods", true, true, false },
		[RES_SERVICE] = { "service", "services", true, true, false },
		[RES_NODE] = { "node", "nodes", false, false, false },
		[RES_GROUP] = { "PodGroup", "podgroups", true, false, true },
	};

	return &traits[r];
}

static inline const char *resource_noun(enum resource r)
{
	return resource_traits(r)->noun;
}

static inline const char *resource_plural(enum resource r)
{
	return resource_traits(r)->plural;
}

static inline bool resource_is_child(enum resource r)
{
	return resource_traits(r)->child;
}

#endif
