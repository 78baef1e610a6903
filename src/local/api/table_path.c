/* The paths of a CRD's columns: the simple part of JSONPath that real CRDs use. */
#include "local/api/table_cells.h"

/* Cuts "name" off the front, up to a dot or a bracket. A backslash takes the next character as it is. */
static struct str cut_name(struct str *path, struct buf *scratch)
{
	size_t n = 0;

	buf_clear(scratch);
	while (n < path->n && path->p[n] != '.' && path->p[n] != '[') {
		if (path->p[n] == '\\' && n + 1 < path->n)
			n++;
		buf_putc(scratch, path->p[n++]);
	}
	*path = str_sub(*path, n, path->n);
	return buf_str(scratch);
}

static struct str unquoted(struct str s)
{
	s = str_trim(s);
	if (s.n >= 2 && (s.p[0] == '\'' || s.p[0] == '"') && s.p[s.n - 1] == s.p[0])
		return str_sub(s, 1, s.n - 2);
	return s;
}

/* ?(@.type=="Ready") */
static yyjson_val *first_that(yyjson_val *list, struct str condition)
{
	const char *equals = memmem(condition.p, condition.n, "==", 2);
	struct str key, want;
	yyjson_val *item;
	size_t i, max;

	if (!equals || !str_has_prefix(condition, STR("?(@.")) || !str_has_suffix(condition, STR(")")))
		return NULL;
	key = str_trim(str_sub(condition, 4, (size_t)(equals - condition.p) - 4));
	want = unquoted(str_sub(condition, (size_t)(equals + 2 - condition.p), condition.n));
	if (want.n && want.p[want.n - 1] == ')')
		want = unquoted(str_sub(want, 0, want.n - 1));
	yyjson_arr_foreach(list, i, max, item)
	{
		if (str_eq(json_str(json_get_str(item, key)), want))
			return item;
	}
	return NULL;
}

static yyjson_val *step_in(yyjson_val *v, struct str inside)
{
	int64_t i;

	if (str_eqc(inside, "*"))
		return yyjson_arr_get_first(v);
	if (str_int(inside, &i))
		return yyjson_arr_get(v,
		                      i >= 0 ? (size_t)i : (size_t)MAX((int64_t)yyjson_arr_size(v) + i, (int64_t)-1));
	if (str_has_prefix(inside, STR("?")))
		return first_that(v, inside);
	return json_get_str(v, unquoted(inside));
}

yyjson_val *column_value(yyjson_val *object, struct str path)
{
	struct buf name = BUF_INIT(1024);
	yyjson_val *v = object;

	path = str_trim(path);
	if (str_has_prefix(path, STR("{")) && str_has_suffix(path, STR("}")))
		path = str_sub(path, 1, path.n - 2);
	while (v && path.n) {
		const char *close;

		if (path.p[0] == '.') {
			path = str_sub(path, 1, path.n);
			if (path.n && path.p[0] != '[')
				v = json_get_str(v, cut_name(&path, &name));
			continue;
		}
		close = path.p[0] == '[' ? memchr(path.p, ']', path.n) : NULL;
		if (!close) {
			v = NULL;
			break;
		}
		v = step_in(v, str_sub(path, 1, (size_t)(close - path.p) - 1));
		path = str_sub(path, (size_t)(close - path.p) + 1, path.n);
	}
	buf_release(&name);
	return v;
}
