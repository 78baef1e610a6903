#include "local/runner/trees.h"

#include "base/json.h"

const char *tree_find(const struct runner_tree *trees, size_t n, struct str name)
{
	for (size_t i = 0; name.n && i < n; i++)
		if (str_eq(trees[i].name, name))
			return trees[i].dir;
	return NULL;
}

static struct str claim_of(yyjson_val *pod, struct str volume)
{
	yyjson_val *v;
	size_t i, max;

	yyjson_arr_foreach(json_at(pod, "spec", "volumes", NULL), i, max, v)
	{
		if (str_eq(json_str(json_get(v, "name")), volume))
			return json_str(json_at(v, "persistentVolumeClaim", "claimName", NULL));
	}
	return STR_NONE;
}

const char *tree_of_volume(const struct runner_tree *trees, size_t n, yyjson_val *pod, struct str name)
{
	const char *dir = tree_find(trees, n, name);

	return dir ? dir : tree_find(trees, n, claim_of(pod, name));
}
