/* Exit codes as users list them. */
#include "base/json.h"
#include "job/decode.h"

enum { CODE_MIN = 1, CODE_MAX = 255 };

static void add_range(struct code_set *set, int64_t from, int64_t to)
{
	for (int64_t c = from; c <= to; c++)
		set->bits[c / 64] |= UINT64_C(1) << (c % 64);
}

static bool in_range(int64_t code, struct str path, struct problems *p)
{
	if (code >= CODE_MIN && code <= CODE_MAX)
		return true;
	if (code == 0)
		problem_error(p, path, "exit code 0 is success, which is never restarted; must be 1 to 255");
	else
		problem_error(p, path, "exit codes are 1 to 255, found %lld", (long long)code);
	return false;
}

/* "137" or "128-255". */
static bool add_part(struct code_set *set, struct str part, struct str path, struct problems *p)
{
	const char *dash = memchr(part.p, '-', part.n);
	size_t first = dash ? (size_t)(dash - part.p) : part.n;
	struct str low = str_trim(str_sub(part, 0, first));
	struct str high = dash ? str_trim(str_sub(part, first + 1, part.n)) : low;
	int64_t from, to;

	if (!str_int(low, &from) || !str_int(high, &to)) {
		problem_error(p, path, "must be exit codes such as \"137,143\" or \"128-255\", found \"%.*s\"",
		              STR_F(text_shown(part, p->arena)));
		return false;
	}
	if (!in_range(from, path, p) || !in_range(to, path, p))
		return false;
	if (from > to) {
		problem_error(p, path, "the range %lld-%lld runs backwards", (long long)from, (long long)to);
		return false;
	}
	add_range(set, from, to);
	return true;
}

static bool add_text(struct code_set *set, struct str text, struct str path, struct problems *p)
{
	struct str part = STR_NONE;

	while (str_next(&text, ',', &part)) {
		struct str code = str_trim(part);

		if (code.n && !add_part(set, code, path, p))
			return false;
	}
	return true;
}

static bool add_value(struct code_set *set, yyjson_val *val, struct str path, struct problems *p)
{
	int64_t code;

	if (yyjson_is_str(val))
		return add_text(set, json_str(val), path, p);
	if (json_int(val, &code)) {
		if (!in_range(code, path, p))
			return false;
		add_range(set, code, code);
		return true;
	}
	problem_error(p, path,
	              "must be exit codes such as 137, \"137,143\" or \"128-255\", or a list of these, found %s",
	              json_type_name(val));
	return false;
}

bool code_set_read(struct code_set *ret, yyjson_val *doc, struct str path, struct problems *p)
{
	struct code_set set = { { 0 } };
	yyjson_arr_iter iter;
	yyjson_val *one;

	if (yyjson_is_arr(doc)) {
		yyjson_arr_iter_init(doc, &iter);
		while ((one = yyjson_arr_iter_next(&iter)))
			if (!add_value(&set, one, path, p))
				return false;
	} else if (!add_value(&set, doc, path, p)) {
		return false;
	}
	*ret = set;
	return true;
}

bool code_set_empty(const struct code_set *s)
{
	return !(s->bits[0] | s->bits[1] | s->bits[2] | s->bits[3]);
}

struct str code_set_format(const struct code_set *s, struct arena *a)
{
	char text[8 * (CODE_MAX + 1)];
	size_t n = 0;

	for (int from = 0; from <= CODE_MAX; from++) {
		int to = from;

		if (!code_set_has(s, from))
			continue;
		while (code_set_has(s, to + 1))
			to++;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d", n ? "," : "", from);
		if (to > from)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "-%d", to);
		from = to;
	}
	return arena_str(a, (struct str){ text, n });
}
