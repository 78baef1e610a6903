#include "kind/path.h"

struct str path_key(struct arena *a, struct str path, struct str key)
{
	for (size_t i = 0; i < key.n; i++)
		if (key.p[i] == '.' || key.p[i] == '[' || key.p[i] == ']' || key.p[i] == '"')
			return arena_printf(a, "%.*s[\"%.*s\"]", STR_F(path), STR_F(key));
	if (path.n == 0)
		return arena_str(a, key);
	return arena_printf(a, "%.*s.%.*s", STR_F(path), STR_F(key));
}

struct str path_index(struct arena *a, struct str path, size_t index)
{
	return arena_printf(a, "%.*s[%zu]", STR_F(path), index);
}
