/* Where the rest of a log is whose stream has ended or broken off. A log is asked for by the name of its pod, and by
   then another pod may have that name, or the container may have been started again: its earlier lines would be shown
   once more, under the name of the run before. */
#ifndef LOGS_AGAIN_H
#define LOGS_AGAIN_H

#include "client/remote.h"

enum log_again {
	AGAIN_SAME,     /* where it was */
	AGAIN_PREVIOUS, /* it is the log of the run before */
	AGAIN_GONE,     /* nowhere */
	AGAIN_LATER,    /* nobody knows; ask again */
	AGAIN_REFUSED,
};

/* The run whose log it is. */
struct log_run {
	struct str ns, pod, uid, container;
	int64_t restarts, generation;
	bool kept; /* the cluster keeps the logs of a pod that is gone, and of the last one of its name */
};

/* What CODE and the pod that has the name now (NULL: none) say. */
enum log_again log_again_judge(const struct log_run *r, int code, yyjson_val *pod);

struct log_asking;
/* Asks the cluster once. The strings of R must stay. MESSAGE is valid until DONE returns. NULL: DONE was called. */
struct log_asking *log_ask(struct remote *remote, const struct log_run *r,
                           void (*done)(void *cookie, enum log_again where, int code, struct str message),
                           void *cookie);
/* No callback comes any more. */
void log_asking_free(struct log_asking *a);

#endif
