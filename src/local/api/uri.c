#include "local/api/uri.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool decode(struct str *ret, struct str s, bool plus_is_blank, struct arena *a)
{
	char *out = arena_raw(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '%') {
			int high = i + 2 < s.n ? hex(s.p[i + 1]) : -1;
			int low = high >= 0 ? hex(s.p[i + 2]) : -1;

			if (low < 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		} else if (c == '+' && plus_is_blank) {
			c = ' ';
		}
		if (!c)
			return false;
		out[n++] = c;
	}
	out[n] = 0;
	*ret = (struct str){ out, n };
	return str_is_utf8(*ret);
}

static bool is_segment(struct str s)
{
	if (str_empty(s) || s.n > URI_SEGMENT_MAX || str_eqc(s, ".") || str_eqc(s, ".."))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f || s.p[i] == '/' || s.p[i] == '%')
			return false;
	return true;
}

bool uri_path(struct uri_path *ret, struct str path, struct arena *a)
{
	struct str part;

	*ret = (struct uri_path){ .n = 0 };
	if (!str_has_prefix(path, STR("/")))
		return false;
	path = str_sub(path, 1, path.n);
	if (path.n > 1 && str_has_suffix(path, STR("/")))
		path.n--;
	while (str_next(&path, '/', &part)) {
		if (ret->n == URI_SEGMENTS_MAX || !decode(&part, part, false, a) || !is_segment(part))
			return false;
		ret->v[ret->n++] = part;
	}
	return true;
}

bool uri_query(struct uri_query *ret, struct str query, struct arena *a)
{
	struct str part;

	ret->n = 0;
	while (str_next(&query, '&', &part)) {
		const char *equals = part.n ? memchr(part.p, '=', part.n) : NULL;
		size_t cut = equals ? (size_t)(equals - part.p) : part.n;
		struct uri_parameter *p = &ret->v[ret->n];

		if (str_empty(part))
			continue;
		if (ret->n == URI_PARAMETERS_MAX || !decode(&p->name, str_sub(part, 0, cut), true, a) ||
		    !decode(&p->value, str_sub(part, cut + 1, part.n), true, a))
			return false;
		ret->n++;
	}
	return true;
}

static const struct uri_parameter *find_parameter(const struct uri_query *q, const char *name)
{
	for (size_t i = 0; i < q->n; i++)
		if (str_eqc(q->v[i].name, name))
			return &q->v[i];
	return NULL;
}

struct str uri_value(const struct uri_query *q, const char *name)
{
	const struct uri_parameter *p = find_parameter(q, name);

	return p ? p->value : STR_NONE;
}

bool uri_has(const struct uri_query *q, const char *name)
{
	return find_parameter(q, name) != NULL;
}

bool uri_bool(const struct uri_query *q, const char *name)
{
	const struct uri_parameter *p = find_parameter(q, name);

	return p && !str_eq_nocase(p->value, STR("false")) && !str_eqc(p->value, "0");
}
