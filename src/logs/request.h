/* The log of one container, as it is asked for: lines of "TIME text". */
#ifndef LOGS_REQUEST_H
#define LOGS_REQUEST_H

#include "base/buf.h"

struct log_request {
	struct str ns, pod, container;
	bool follow, previous;
	int64_t since_time; /* nanoseconds since 1970; 0: from the beginning, or … */
	int64_t since;      /* … so many seconds ago */
	int32_t tail;       /* lines; -1: all */
};

enum { LOG_PATH_MAX = 8192 };
/* Appends the path. */
void log_request_path(struct buf *out, const struct log_request *q);

#endif
