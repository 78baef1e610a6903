/*
 * Which jobs may start on this machine. A job is admitted whole, so that two halves do not wait for each other; first
 * come, first served, so that a large one is not overtaken for ever; what can never fit is told at once. Pure.
 */
#ifndef LOCAL_RUNNER_FIT_H
#define LOCAL_RUNNER_FIT_H

#include "base/arena.h"

struct amount {
	int64_t cpu;    /* thousandths of a core */
	int64_t memory; /* bytes */
	int64_t gpus;
};

enum fit_verdict {
	FIT_ADMITTED,
	FIT_WAITS, /* for others to end */
	FIT_NEVER, /* the machine is too small for it */
};

struct fit_job {
	struct str name;     /* for people */
	struct amount wants; /* all of its pods together */
	bool admitted;       /* it was before: it keeps what it has */
	enum fit_verdict verdict;
	struct str reason; /* WAITS, NEVER: one line */
};

/* Fills verdict and reason of all JOBS, which stand in the order of their arrival; the reasons are in A. Those that
   were admitted stay so, also if the machine has become smaller. */
void fit_jobs(const struct amount *machine, struct fit_job *jobs, size_t n, struct arena *a);

#endif
