/* Measurements with a target beside each. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "base/util.h"

enum better { MORE_IS_BETTER, LESS_IS_BETTER };

/* Prints one line, and remembers whether a target was missed. */
void bench_result(const char *what, double measured, enum better better, double target, const char *unit);
/* Something could not be measured: that is a miss, too. */
void bench_broken(const char *what, const char *why);

/* Seconds of processor time that this process has used: what else runs on the machine does not count. */
double bench_now(void);

void bench_plan(void);
void bench_kind(void);
void bench_kube(void);
/* DLJOB is the executable that is measured. */
void bench_render(const char *dljob);

#endif
