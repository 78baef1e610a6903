/* Seeded random numbers: the same seed gives the same run, on every machine. Not for secrets. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include "base/util.h"

struct rng {
	uint64_t s[4];
};

struct rng rng_seed(uint64_t seed);
uint64_t rng_next(struct rng *r);
/* 0 … n-1, evenly; n must be > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* True in one of N cases. */
bool rng_one_in(struct rng *r, uint64_t n);
/* from … to, both included. */
int64_t rng_between(struct rng *r, int64_t from, int64_t to);

#endif
