/* Comparing what is there with what was written down, and saying where they differ. */
#include "golden.h"

#include <stdarg.h>

void differ(struct golden *g, struct str path, const char *fmt, ...)
{
	struct yaml_pos pos = g->yaml ? yaml_where(g->yaml, 0, path) : (struct yaml_pos){ 0 };
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		BUG("out of memory");
	va_end(args);
	g->differences++;
	buf_printf(&g->out, "%.*s:%zu: %.*s%.*s: %s\n", STR_F(g->file), pos.line, STR_F(path), STR_F(g->of), text);
	free(text);
}

static bool plain_key(struct str key)
{
	for (size_t i = 0; i < key.n; i++)
		if (strchr(".[]\"", key.p[i]))
			return false;
	return key.n > 0;
}

struct str key_path(struct golden *g, struct str path, struct str key)
{
	if (!plain_key(key))
		return arena_printf(&g->a, "%.*s[\"%.*s\"]", STR_F(path), STR_F(key));
	return arena_printf(&g->a, "%.*s%s%.*s", STR_F(path), path.n ? "." : "", STR_F(key));
}

struct str item_path(struct golden *g, struct str path, size_t index)
{
	return arena_printf(&g->a, "%.*s[%zu]", STR_F(path), index);
}

static bool is_absent(yyjson_val *val)
{
	return !val || yyjson_is_null(val);
}

static const char *shown(struct golden *g, yyjson_val *val)
{
	struct buf b = BUF_INIT(1 << 20);
	struct str s;

	if (!val)
		return "nothing";
	json_write_val(val, &b);
	s = arena_str(&g->a, buf_str(&b));
	buf_release(&b);
	return s.p;
}

static void differ_values(struct golden *g, struct str path, yyjson_val *want, yyjson_val *got)
{
	differ(g, path, "\n    expected %s\n    got      %s", is_absent(want) ? "nothing" : shown(g, want),
	       shown(g, got));
}

static void compare_order(struct golden *g, struct str path, yyjson_val *want, yyjson_val *got)
{
	yyjson_obj_iter w = yyjson_obj_iter_with(want), o = yyjson_obj_iter_with(got);
	yyjson_val *kw, *ko;

	while ((kw = yyjson_obj_iter_next(&w)) && (ko = yyjson_obj_iter_next(&o))) {
		if (str_eq(json_str(kw), json_str(ko)))
			continue;
		differ(g, key_path(g, path, json_str(kw)), "expected here, got %s", shown(g, ko));
		return;
	}
}

static void compare_objects(struct golden *g, struct str path, yyjson_val *want, yyjson_val *got, enum compare how)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(want);
	size_t before = g->differences;
	yyjson_val *k;

	while ((k = yyjson_obj_iter_next(&it)))
		compare(g, key_path(g, path, json_str(k)), yyjson_obj_iter_get_val(k), json_get_str(got, json_str(k)),
		        how);
	if (how == COMPARE_SUBSET)
		return;
	it = yyjson_obj_iter_with(got);
	while ((k = yyjson_obj_iter_next(&it)))
		if (!json_get_str(want, json_str(k)))
			differ(g, path, "unexpected %s: %s", shown(g, k), shown(g, yyjson_obj_iter_get_val(k)));
	if (how == COMPARE_ORDERED && before == g->differences)
		compare_order(g, path, want, got);
}

static void compare_lists(struct golden *g, struct str path, yyjson_val *want, yyjson_val *got, enum compare how)
{
	if (yyjson_arr_size(want) != yyjson_arr_size(got)) {
		differ_values(g, path, want, got);
		return;
	}
	for (size_t i = 0; i < yyjson_arr_size(want); i++)
		compare(g, item_path(g, path, i), yyjson_arr_get(want, i), yyjson_arr_get(got, i), how);
}

void compare(struct golden *g, struct str path, yyjson_val *want, yyjson_val *got, enum compare how)
{
	if (is_absent(want) && is_absent(got))
		return;
	if (yyjson_is_obj(want) && yyjson_is_obj(got))
		compare_objects(g, path, want, got, how);
	else if (yyjson_is_arr(want) && yyjson_is_arr(got))
		compare_lists(g, path, want, got, how);
	else if (is_absent(want) || is_absent(got) || !json_eq(want, got))
		differ_values(g, path, want, got);
}

bool keys_known(struct golden *g, struct str path, yyjson_val *obj, const char *const *known)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(obj);
	bool all = true;
	yyjson_val *k;

	if (!yyjson_is_obj(obj)) {
		differ(g, path, "must be an object, it is %s", obj ? json_type_name(obj) : "missing");
		return false;
	}
	while ((k = yyjson_obj_iter_next(&it))) {
		bool found = false;

		for (size_t i = 0; known[i] && !found; i++)
			found = str_eqc(json_str(k), known[i]);
		if (!found)
			differ(g, key_path(g, path, json_str(k)), "a case has no such key");
		all = all && found;
	}
	return all;
}
