/* Seeds in several processes: every core has work, and a seed that kills its process stops no other. */
#ifndef SIM_WORKERS_H
#define SIM_WORKERS_H

#include "base/err.h"
#include "sim/sim.h"

#include <signal.h>

enum { WORKERS_MAX = 256 };

/* What became of a seed. It goes through a pipe in one piece. */
struct seed_result {
	uint64_t seed;
	bool good;
	enum invariant broken; /* INV_NONE and not good: its process died */
	size_t step;
	char why[512];
	struct sim_tally tally; /* of this seed alone */
};

struct workers {
	unsigned jobs; /* 1 … WORKERS_MAX */
	uint64_t from, seeds;
	/* In a process of its own, which goes on with other seeds: runs the seed and fills in the rest. */
	void (*run)(void *arg, struct seed_result *ret);
	/* In this process, as the seeds end, in no fixed order. False: that is enough. */
	bool (*done)(void *arg, const struct seed_result *r);
	void *arg;
	volatile const sig_atomic_t *stop; /* not 0: a signal says that it is enough; NULL: none will */
};

/* Returns when every seed has ended or it was enough; no process is left then. False, with the error set: the
   machine gives no process or no pipe. */
bool workers_run(const struct workers *w, struct err *e);

#endif
