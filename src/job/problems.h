/* A list of what is wrong with a manifest: all of it at once, each with the field it stands in. */
#ifndef JOB_PROBLEMS_H
#define JOB_PROBLEMS_H

#include "base/arena.h"

enum severity {
	PROBLEM_ERROR,
	PROBLEM_WARNING,
	PROBLEM_SPARED, /* a warning that is an error for a job which has not started */
};

struct problem {
	enum severity severity;
	struct str path;    /* spec.replicaSpecs[0].replicas; may be empty */
	struct str message; /* what is wrong and what would be right */
};

struct problems {
	struct arena *arena;
	VEC(struct problem) list;
	size_t errors;
	size_t dropped; /* past the limit */
	/* The first mistake that is not the manifest's but the kind's own, which is among the others too. */
	struct {
		struct str message; /* role "master": unknown field "servce"; empty: there is none */
		struct str word;    /* where it shows in the kind's file: servce; may be empty */
	} of_kind;
};

enum { PROBLEMS_MAX = 100 };

void problems_add(struct problems *p, enum severity severity, struct str path, const char *fmt, ...) PRINTF_LIKE(4, 5);
#define problem_error(p, path, ...) problems_add((p), PROBLEM_ERROR, (path), __VA_ARGS__)
#define problem_warning(p, path, ...) problems_add((p), PROBLEM_WARNING, (path), __VA_ARGS__)

/* The first error as "path: message", and how many more there are; empty if there is none. */
struct str problems_line(const struct problems *p, struct arena *a);

#endif
