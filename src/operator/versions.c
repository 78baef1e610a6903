#include "operator/versions.h"

void versions_start(struct versions *v, enum version_origin from)
{
	*v = (struct versions){ .ahead = from == VERSION_FROM_ANSWER };
}

void versions_doubt(struct versions *v, uint64_t sent)
{
	v->unsure = true;
	v->sent = sent;
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

/* Of two that cannot be compared the one that is shown now is taken. */
static bool newer(struct str have, struct str rv)
{
	return !decimal(have) || !decimal(rv) || larger(rv, have);
}

bool versions_take(struct versions *v, struct str have, struct str rv, enum version_origin from)
{
	/* Whoever lists it or finds it says that it is there; a watch may repeat itself. */
	if (from != VERSION_FROM_WATCH)
		v->unsure = false;
	if (str_eq(have, rv)) {
		if (from != VERSION_FROM_ANSWER)
			v->ahead = false;
		return false;
	}
	if (!newer(have, rv))
		return false;
	v->ahead = from == VERSION_FROM_ANSWER;
	v->unsure = false;
	return true;
}
