/* What the machine says of this process. */
#ifndef PROGRAM_PROCESS_H
#define PROGRAM_PROCESS_H

#include "operator/metrics.h"

/* From /proc; what cannot be read is 0. */
struct metrics_process process_numbers(void);
/* A name that no other process has: the pod's or the machine's, and a random part. Into BUF; returns it. */
const char *process_identity(char *buf, size_t size);
uint64_t process_seed(void);

#endif
