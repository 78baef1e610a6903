#include "job/needs.h"

#include "base/json.h"

/* The place of NAME, made if it is not there. */
static struct quantity *place(struct needs *n, struct str name, struct arena *a)
{
	size_t at = 0;

	while (at < n->n && str_cmp(n->v[at].name, name) < 0)
		at++;
	if (at < n->n && str_eq(n->v[at].name, name))
		return &n->v[at].amount;
	vec_push(a, n);
	memmove(&n->v[at + 1], &n->v[at], (n->n - 1 - at) * sizeof(*n->v));
	n->v[at] = (struct need){ .name = name };
	return &n->v[at].amount;
}

struct needs needs_of_list(yyjson_val *list, struct arena *a)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(list);
	struct needs n = { 0 };
	yyjson_val *key;
	int64_t milli;

	while ((key = yyjson_obj_iter_next(&it)))
		if (quantity_read(yyjson_obj_iter_get_val(key), &milli))
			*place(&n, json_str(key), a) = quantity_of(milli);
	return n;
}

struct needs needs_of_container(yyjson_val *container, struct arena *a)
{
	yyjson_val *resources = json_get(container, "resources");
	struct needs asked = needs_of_list(json_get(resources, "requests"), a),
		     most = needs_of_list(json_get(resources, "limits"), a);

	for (size_t i = 0; i < most.n; i++) {
		size_t before = asked.n;
		struct quantity *q = place(&asked, most.v[i].name, a);

		if (asked.n > before)
			*q = most.v[i].amount;
	}
	return asked;
}

void needs_add(struct needs *to, const struct needs *more, int32_t times, struct arena *a)
{
	for (size_t i = 0; i < more->n; i++) {
		struct quantity *q = place(to, more->v[i].name, a);

		*q = quantity_sum(*q, quantity_times(more->v[i].amount, times));
	}
}

void needs_raise(struct needs *to, const struct needs *other, struct arena *a)
{
	for (size_t i = 0; i < other->n; i++) {
		struct quantity *q = place(to, other->v[i].name, a);

		if (quantity_cmp(*q, other->v[i].amount) < 0)
			*q = other->v[i].amount;
	}
}

struct needs needs_of_pod(yyjson_val *spec, struct arena *a)
{
	struct needs total = { 0 }, sidecars = { 0 }, first = { 0 }, whole, more;
	yyjson_val *c;
	size_t i, max;

	yyjson_arr_foreach(json_get(spec, "initContainers"), i, max, c)
	{
		struct needs now = needs_of_container(c, a);

		if (str_eqc(json_str(json_get(c, "restartPolicy")), "Always")) {
			needs_add(&sidecars, &now, 1, a);
			needs_raise(&first, &sidecars, a);
		} else {
			needs_add(&now, &sidecars, 1, a);
			needs_raise(&first, &now, a);
		}
	}
	needs_add(&total, &sidecars, 1, a);
	yyjson_arr_foreach(json_get(spec, "containers"), i, max, c)
	{
		struct needs one = needs_of_container(c, a);

		needs_add(&total, &one, 1, a);
	}
	needs_raise(&total, &first, a);
	whole = needs_of_container(spec, a);
	for (i = 0; i < whole.n; i++)
		*place(&total, whole.v[i].name, a) = whole.v[i].amount;
	more = needs_of_list(json_get(spec, "overhead"), a);
	needs_add(&total, &more, 1, a);
	return total;
}

struct quantity needs_get(const struct needs *n, struct str name)
{
	for (size_t i = 0; i < n->n; i++)
		if (str_eq(n->v[i].name, name))
			return n->v[i].amount;
	return (struct quantity){ 0 };
}

bool needs_eq(const struct needs *a, const struct needs *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i].name, b->v[i].name) || quantity_cmp(a->v[i].amount, b->v[i].amount))
			return false;
	return true;
}
