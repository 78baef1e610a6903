#include "base/rng.h"

/* xoshiro256**, seeded through splitmix64, as its authors advise. */

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

struct rng rng_seed(uint64_t seed)
{
	struct rng r;

	for (size_t i = 0; i < ARRAY_LEN(r.s); i++)
		r.s[i] = splitmix(&seed);
	return r;
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return out;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	uint64_t over;

	ASSERT(n > 0);
	/* Throw away what would make the low numbers likelier. */
	over = (0 - n) % n;
	for (;;) {
		uint64_t x = rng_next(r);

		if (x >= over)
			return x % n;
	}
}

bool rng_one_in(struct rng *r, uint64_t n)
{
	return rng_below(r, n) == 0;
}

int64_t rng_between(struct rng *r, int64_t from, int64_t to)
{
	uint64_t span = (uint64_t)to - (uint64_t)from + 1;

	ASSERT(from <= to);
	/* 0: all numbers there are. */
	return (int64_t)((uint64_t)from + (span ? rng_below(r, span) : rng_next(r)));
}
