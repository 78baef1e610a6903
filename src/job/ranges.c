#include "job/ranges.h"

/* The first range that ends at or after INDEX; r->n if there is none. */
static size_t find_range(const struct ranges *r, int32_t index)
{
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->v[mid].to < index)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool ranges_has(const struct ranges *r, int32_t index)
{
	size_t i = find_range(r, index);

	return i < r->n && r->v[i].from <= index;
}

static void insert(struct ranges *r, struct arena *a, size_t at, struct range range)
{
	vec_room(a, (void **)&r->v, &r->cap, r->n, sizeof(*r->v));
	memmove(&r->v[at + 1], &r->v[at], (r->n - at) * sizeof(*r->v));
	r->v[at] = range;
	r->n++;
}

static void erase(struct ranges *r, size_t at)
{
	memmove(&r->v[at], &r->v[at + 1], (r->n - at - 1) * sizeof(*r->v));
	r->n--;
}

bool ranges_add(struct ranges *r, struct arena *a, int32_t index)
{
	size_t i = find_range(r, index);
	bool joins_left, joins_right;

	if (i < r->n && r->v[i].from <= index)
		return false;
	joins_left = i > 0 && r->v[i - 1].to == index - 1;
	joins_right = i < r->n && r->v[i].from == index + 1;
	if (joins_left && joins_right) {
		r->v[i - 1].to = r->v[i].to;
		erase(r, i);
	} else if (joins_left) {
		r->v[i - 1].to = index;
	} else if (joins_right) {
		r->v[i].from = index;
	} else {
		insert(r, a, i, (struct range){ index, index });
	}
	return true;
}

bool ranges_del(struct ranges *r, struct arena *a, int32_t index)
{
	size_t i = find_range(r, index);
	struct range was;

	if (i == r->n || r->v[i].from > index)
		return false;
	was = r->v[i];
	if (was.from == was.to) {
		erase(r, i);
	} else if (was.from == index) {
		r->v[i].from++;
	} else if (was.to == index) {
		r->v[i].to--;
	} else {
		r->v[i].to = index - 1;
		insert(r, a, i + 1, (struct range){ index + 1, was.to });
	}
	return true;
}

void ranges_cut(struct ranges *r, int32_t index)
{
	size_t i = find_range(r, index);

	if (i < r->n && r->v[i].from < index) {
		r->v[i].to = index - 1;
		i++;
	}
	r->n = i;
}

int32_t ranges_count(const struct ranges *r)
{
	int32_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->v[i].to - r->v[i].from + 1;
	return n;
}

bool ranges_eq(const struct ranges *a, const struct ranges *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->v, b->v, a->n * sizeof(*a->v)) == 0);
}

struct ranges ranges_copy(const struct ranges *r, struct arena *a)
{
	struct ranges c = { NULL, r->n, r->n };

	if (r->n) {
		c.v = arena_raw(a, r->n * sizeof(*r->v));
		memcpy(c.v, r->v, r->n * sizeof(*r->v));
	}
	return c;
}

struct str ranges_format(const struct ranges *r, struct arena *a)
{
	enum { LONGEST = sizeof("2147483647-2147483647,") };
	char *text = arena_raw(a, r->n * LONGEST + 1);
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct range *v = &r->v[i];
		const char *comma = i ? "," : "";
		int more = v->from == v->to ? snprintf(text + n, LONGEST, "%s%d", comma, v->from)
		                            : snprintf(text + n, LONGEST, "%s%d-%d", comma, v->from, v->to);

		n += (size_t)more;
	}
	return (struct str){ text, n };
}

bool ranges_parse(struct ranges *ret, struct arena *a, struct str s, int32_t limit)
{
	struct str part = STR_NONE;
	struct ranges r = { 0 };

	while (str_next(&s, ',', &part)) {
		const char *dash = part.n ? memchr(part.p, '-', part.n) : NULL;
		size_t n = dash ? (size_t)(dash - part.p) : part.n;
		int64_t from, to;

		if (!str_int(str_sub(part, 0, n), &from))
			return false;
		to = from;
		if (dash && !str_int(str_sub(part, n + 1, part.n), &to))
			return false;
		/* In order and apart, as we write them: then nothing has to be sorted or joined. */
		if (from < 0 || to < from || to >= limit || (r.n && from <= (int64_t)r.v[r.n - 1].to + 1))
			return false;
		insert(&r, a, r.n, (struct range){ (int32_t)from, (int32_t)to });
	}
	*ret = r;
	return true;
}
