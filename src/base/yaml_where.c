/* From a path such as spec.roles[0].count to its place in the file. */
#include "base/yaml_node.h"

/* One step of a path: .name, [3] or ["a.b/c"]. */
struct yaml_step {
	struct str key;
	bool quoted; /* a backslash in the key quotes the character after it */
};

static bool next_step(struct str *path, struct yaml_step *ret)
{
	size_t end = 0;

	if (path->n && path->p[0] == '.')
		*path = str_sub(*path, 1, path->n);
	if (!path->n)
		return false;
	if (path->p[0] != '[') {
		while (end < path->n && path->p[end] != '.' && path->p[end] != '[')
			end++;
		*ret = (struct yaml_step){ str_sub(*path, 0, end), false };
		*path = str_sub(*path, end, path->n);
		return true;
	}
	ret->quoted = path->n > 1 && path->p[1] == '"';
	*path = str_sub(*path, ret->quoted ? 2 : 1, path->n);
	while (end < path->n && path->p[end] != (ret->quoted ? '"' : ']'))
		end += ret->quoted && path->p[end] == '\\' ? 2 : 1;
	ret->key = str_sub(*path, 0, end);
	*path = str_sub(*path, end + (ret->quoted ? 2 : 1), path->n);
	return true;
}

static bool names(const struct yaml_step *step, struct str key)
{
	size_t j = 0;

	if (!step->quoted)
		return str_eq(step->key, key);
	for (size_t i = 0; i < step->key.n; i++, j++) {
		if (step->key.p[i] == '\\' && i + 1 < step->key.n)
			i++;
		if (j == key.n || step->key.p[i] != key.p[j])
			return false;
	}
	return j == key.n;
}

static const struct yaml_item *child(const struct yaml_node *node, const struct yaml_step *step)
{
	int64_t index;

	if (node->kind == YAML_MAP) {
		for (const struct yaml_item *it = node->first; it; it = it->next)
			if (names(step, it->key))
				return it;
	} else if (node->kind == YAML_LIST && str_int(step->key, &index)) {
		for (const struct yaml_item *it = node->first; it; it = it->next)
			if (index-- == 0)
				return it;
	}
	return NULL;
}

/* *EXACT: it is what stands at PATH, and not only something around it. */
static const struct yaml_item *nearest_item(const struct yaml_item *root, struct str path, bool *exact)
{
	const struct yaml_item *at = root, *inner = root;
	struct yaml_step step;

	while (inner && next_step(&path, &step))
		if ((inner = child(at->node, &step)))
			at = inner;
	*exact = inner;
	return at;
}

struct yaml_pos yaml_find(const struct yaml_item *root, struct str path)
{
	bool exact;
	const struct yaml_item *at = nearest_item(root, path, &exact);

	return (struct yaml_pos){ at->line, at->column };
}

struct str yaml_find_number(const struct yaml_item *root, struct str path)
{
	bool exact;
	const struct yaml_node *node = nearest_item(root, path, &exact)->node;
	bool number =
		exact && node->kind == YAML_SCALAR && node->value.type >= YAML_INT && node->value.type <= YAML_FLOAT;

	return number ? node->text : STR_NONE;
}
