#include "object/needs.h"

#include "base/json.h"

struct quantity *needs_put(struct needs *n, struct str name, struct arena *a)
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
			*needs_put(&n, json_str(key), a) = quantity_of(milli);
	return n;
}

void needs_add(struct needs *to, const struct needs *more, int32_t times, struct arena *a)
{
	for (size_t i = 0; i < more->n; i++) {
		struct quantity *q = needs_put(to, more->v[i].name, a);

		*q = quantity_sum(*q, quantity_times(more->v[i].amount, times));
	}
}

void needs_raise(struct needs *to, const struct needs *other, struct arena *a)
{
	for (size_t i = 0; i < other->n; i++) {
		struct quantity *q = needs_put(to, other->v[i].name, a);

		if (quantity_cmp(*q, other->v[i].amount) < 0)
			*q = other->v[i].amount;
	}
}

static const struct need *find_need(const struct needs *n, struct str name)
{
	for (size_t i = 0; i < n->n; i++)
		if (str_eq(n->v[i].name, name))
			return &n->v[i];
	return NULL;
}

struct quantity needs_get(const struct needs *n, struct str name)
{
	const struct need *found = find_need(n, name);

	return found ? found->amount : (struct quantity){ 0 };
}

bool needs_has(const struct needs *n, struct str name)
{
	return find_need(n, name) != NULL;
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

struct str need_write(const struct need *n, char ret[static QUANTITY_TEXT])
{
	static const struct str bytes[] = { STR_INIT("memory"), STR_INIT("ephemeral-storage"), STR_INIT("storage") };
	bool binary = str_has_prefix(n->name, STR("hugepages-"));

	for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
		binary = binary || str_eq(n->name, bytes[i]);
	return quantity_write(n->amount, binary, ret);
}
