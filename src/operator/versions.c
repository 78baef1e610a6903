#include "operator/versions.h"

static bool known_old(const struct versions *v, uint64_t hash)
{
	for (size_t i = 0; i < MIN(v->n_old, (uint32_t)VERSIONS_KEPT); i++)
		if (v->old[i] == hash)
			return true;
	return false;
}

static void remember(struct versions *v, uint64_t hash)
{
	v->old[v->n_old++ % VERSIONS_KEPT] = hash;
}

void versions_start(struct versions *v, enum origin from)
{
	*v = (struct versions){ .ahead = from == FROM_ANSWER };
}

static bool decimal(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0 && s.p[0] != '0';
}

static bool larger(struct str a, struct str b)
{
	return a.n != b.n ? a.n > b.n : str_cmp(a, b) > 0;
}

bool versions_older(struct str have, struct str rv)
{
	return decimal(have) && decimal(rv) && larger(have, rv);
}

/* Is RV newer than HAVE? If both are numbers, no question is left. */
static bool newer(struct versions *v, struct str have, struct str rv, enum origin from)
{
	uint64_t hash;

	if (decimal(have) && decimal(rv))
		return larger(rv, have);
	hash = str_hash(rv);
	if (known_old(v, hash))
		return false;
	/* A watch shows every state in order: until it shows ours, everything is older than ours. */
	if (from == FROM_WATCH && v->ahead && v->skipped < VERSIONS_SKIPPED) {
		v->skipped++;
		remember(v, hash);
		return false;
	}
	remember(v, str_hash(have));
	return true;
}

bool versions_take(struct versions *v, struct str have, struct str rv, enum origin from)
{
	/* Whoever lists it or finds it says that it is there; a watch may repeat itself. */
	if (from != FROM_WATCH)
		v->unsure = false;
	if (str_eq(have, rv)) {
		if (from != FROM_ANSWER)
			v->ahead = false;
		return false;
	}
	if (!newer(v, have, rv, from))
		return false;
	v->ahead = from == FROM_ANSWER;
	v->skipped = 0;
	v->unsure = false;
	return true;
}
