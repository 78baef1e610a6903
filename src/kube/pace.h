/* A limit on requests a second, for those who want one: a bucket of tokens. */
#ifndef KUBE_PACE_H
#define KUBE_PACE_H

#include "base/clock.h"

struct pace {
	double rate; /* tokens a second; 0: no limit */
	double burst, tokens;
	msec filled;
};

/* BURST 0: as much as one second's. */
struct pace pace_new(double qps, size_t burst);
/* 0: go, a token was taken. Otherwise wait so long, and ask again. */
msec pace_take(struct pace *p, msec now);

#endif
