#include "local/store/json_patch.h"

#include "local/store/answer.h"

/* As Kubernetes allows. Copies can double what there is each time: all of them together are bounded. */
enum { OPERATIONS_MAX = 10000, COPIES_MAX = 1 << 18, TEXT_SHARE = 64 };

struct patching {
	struct store_call *call;
	yyjson_mut_doc *doc;
	size_t copied; /* values, and so many bytes of text as one */
};

enum operation { OP_TEST, OP_ADD, OP_REMOVE, OP_REPLACE, OP_MOVE, OP_COPY, OP_UNKNOWN };
static const struct {
	const char *name;
	bool value, from;
} operations[] = {
	[OP_TEST] = { "test", true, false },      [OP_ADD] = { "add", true, false },
	[OP_REMOVE] = { "remove", false, false }, [OP_REPLACE] = { "replace", true, false },
	[OP_MOVE] = { "move", false, true },      [OP_COPY] = { "copy", false, true },
};

static bool malformed(struct patching *p, size_t i, const char *why)
{
	return answer_refusal(p->call, HTTP_INVALID, "Invalid", "the patch's operation %zu: %s", i, why);
}

static bool fails(struct patching *p, size_t i, const char *what, struct str path)
{
	return answer_refusal(p->call, HTTP_INVALID, "Invalid",
	                      "the server rejected our request due to an error in our request: operation %zu: %s: %.*s",
	                      i, what, STR_F(str_sub(path, 0, 256)));
}

/* Counts what a copy takes; false: too much, or too deep. */
static bool count_copy(struct patching *p, yyjson_mut_val *v, size_t depth)
{
	yyjson_mut_val *key, *one;
	size_t i, max;

	p->copied += 1 + json_mut_text(v).n / TEXT_SHARE;
	if (depth > JSON_MAX_DEPTH || p->copied > COPIES_MAX)
		return false;
	if (yyjson_mut_is_obj(v)) {
		yyjson_mut_obj_foreach(v, i, max, key, one)
		{
			if (!count_copy(p, one, depth + 1))
				return false;
		}
	} else if (yyjson_mut_is_arr(v)) {
		yyjson_mut_arr_foreach(v, i, max, one)
		{
			if (!count_copy(p, one, depth + 1))
				return false;
		}
	}
	return true;
}

static yyjson_mut_val *at(struct patching *p, struct str path)
{
	return yyjson_mut_doc_ptr_getn(p->doc, path.p, path.n);
}

static bool add(struct patching *p, struct str path, yyjson_mut_val *v)
{
	if (str_empty(path)) {
		yyjson_mut_doc_set_root(p->doc, v);
		return true;
	}
	/* An object's member is put in the place of the one that is there. */
	return yyjson_mut_doc_ptr_addn(p->doc, path.p, path.n, v);
}

static bool add_member(struct patching *p, struct str path, yyjson_mut_val *v)
{
	size_t slash = path.n;
	yyjson_mut_val *parent;

	while (slash && path.p[slash - 1] != '/')
		slash--;
	parent = slash ? at(p, str_sub(path, 0, slash - 1)) : NULL;
	/* RFC 6902: the parent must exist. */
	if (slash && !yyjson_mut_is_ctn(parent))
		return false;
	if (yyjson_mut_is_obj(parent) && at(p, path))
		return yyjson_mut_doc_ptr_replacen(p->doc, path.p, path.n, v) != NULL;
	return add(p, path, v);
}

static bool removed(struct patching *p, struct str path, yyjson_mut_val **ret)
{
	*ret = str_empty(path) ? NULL : yyjson_mut_doc_ptr_removen(p->doc, path.p, path.n);
	return *ret;
}

static bool replaced(struct patching *p, struct str path, yyjson_mut_val *v)
{
	if (str_empty(path))
		return add(p, path, v);
	return yyjson_mut_doc_ptr_replacen(p->doc, path.p, path.n, v) != NULL;
}

static bool is_below(struct str path, struct str top)
{
	return str_has_prefix(path, top) && (path.n == top.n || path.p[top.n] == '/');
}

static bool copied(struct patching *p, struct str from, struct str path)
{
	yyjson_mut_val *v = at(p, from);

	return v && count_copy(p, v, 0) && add_member(p, path, yyjson_mut_val_mut_copy(p->doc, v));
}

static bool moved(struct patching *p, struct str from, struct str path)
{
	yyjson_mut_val *v;

	if (str_eq(from, path))
		return at(p, from);
	return !is_below(path, from) && removed(p, from, &v) && add_member(p, path, v);
}

static bool run_operation(struct patching *p, enum operation op, struct str path, struct str from, yyjson_val *value)
{
	yyjson_mut_val *v = value ? yyjson_val_mut_copy(p->doc, value) : NULL;

	switch (op) {
	case OP_TEST:
		return at(p, path) && yyjson_mut_equals(at(p, path), v);
	case OP_ADD:
		return add_member(p, path, v);
	case OP_REMOVE:
		return removed(p, path, &v);
	case OP_REPLACE:
		return replaced(p, path, v);
	case OP_MOVE:
		return moved(p, from, path);
	case OP_COPY:
		return copied(p, from, path);
	case OP_UNKNOWN:
		break;
	}
	return false;
}

static enum operation operation_of(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		if (str_eqc(name, operations[i].name))
			return (enum operation)i;
	return OP_UNKNOWN;
}

static size_t depth_of(struct str path)
{
	size_t n = 0;

	for (size_t i = 0; i < path.n; i++)
		n += path.p[i] == '/';
	return n;
}

static bool is_pointer(yyjson_val *v)
{
	struct str path = json_str(v);

	return yyjson_is_str(v) && (str_empty(path) || path.p[0] == '/') && depth_of(path) <= JSON_MAX_DEPTH;
}

static bool one_operation(struct patching *p, size_t i, yyjson_val *one)
{
	enum operation op = operation_of(json_str(json_get(one, "op")));
	yyjson_val *path = json_get(one, "path"), *from = json_get(one, "from"), *value = json_get(one, "value");

	if (op == OP_UNKNOWN)
		return malformed(p, i, "op must be one of test, add, remove, replace, move, copy");
	if (!is_pointer(path) || (operations[op].from && !is_pointer(from)))
		return malformed(p, i, "path and from must be JSON pointers");
	if (operations[op].value && !value)
		return malformed(p, i, "value is missing");
	return run_operation(p, op, json_str(path), json_str(from), value) ||
	       fails(p, i, operations[op].name, json_str(path));
}

yyjson_mut_val *json_patch(struct store_call *c, yyjson_mut_doc *doc, yyjson_val *root, yyjson_val *patch)
{
	struct patching p = { .call = c, .doc = doc };
	yyjson_val *one;
	size_t i, max;

	if (!yyjson_is_arr(patch) || yyjson_arr_size(patch) > OPERATIONS_MAX) {
		answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest", "a JSON patch is a list of at most %d operations",
		               OPERATIONS_MAX);
		return NULL;
	}
	yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, root));
	yyjson_arr_foreach(patch, i, max, one)
	{
		if (!one_operation(&p, i, one))
			return NULL;
	}
	return yyjson_mut_doc_get_root(doc);
}
