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

bool versions_take(struct versions *v, struct str have, struct str rv, enum origin from)
{
	uint64_t hash;

	if (str_eq(have, rv)) {
		/* Shown by a watch, it needs no more waiting for; by an answer, nothing is denied any more. */
		if (from != FROM_ANSWER)
			v->ahead = false;
		if (from != FROM_WATCH)
			v->unsure = false;
		return false;
	}
	hash = str_hash(rv);
	if (known_old(v, hash))
		return false;
	/* A watch shows every state in order: until it shows ours, everything is older than ours. A list
	   may have passed ours by. */
	if (from == FROM_WATCH && v->ahead && v->skipped < VERSIONS_SKIPPED) {
		v->skipped++;
		remember(v, hash);
		return false;
	}
	remember(v, str_hash(have));
	v->ahead = from == FROM_ANSWER;
	v->skipped = 0;
	v->unsure = false;
	return true;
}
