/* Numbers for Prometheus, in its text format. Queue and reconcile have controller-runtime's names, requests
   client-go's; nothing is labelled by a job's name. */
#ifndef OPERATOR_METRICS_H
#define OPERATOR_METRICS_H

#include "base/buf.h"
#include "operator/operator.h"

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* What the observer sees. */
void metrics_see(struct metrics *m, const struct observer_sight *s);
/* A call beside the operator's own: of Leases, CRDs and Events. */
void metrics_call(struct metrics *m, enum verb verb, int code, msec took);
/* A page of a list, or a watch. */
void metrics_feed(struct metrics *m, bool watch, int code, msec took);

/* What only the process knows. */
struct metrics_process {
	double cpu_seconds, start_seconds;
	uint64_t resident, virtual_size, open_fds, max_fds;
};
struct metrics_now {
	const struct operator_loop *op; /* NULL: not started yet */
	const struct kinds *kinds;      /* those that are served; with OP */
	int leads;                      /* 1, 0; -1: there is no election */
	struct str lease;               /* its name */
	uint64_t events_dropped;
	struct metrics_process process;
};
/* Appends everything to OUT. */
void metrics_write(const struct metrics *m, const struct metrics_now *now, struct buf *out);

#endif
