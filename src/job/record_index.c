/*
 * What is remembered of single replicas, as JSON: of each thing its values, and of each value the replicas that have it
 * ({"generation": {"1": "0-4999"}}). Thousands that were lost together take a line, not a megabyte.
 *
 * Before, there was an object for each replica ({"7": {"generation": 1}}). It is still read; where both stand, since
 * an older operator has served the job in between, the larger value holds.
 */
#include "job/record.h"

#include <inttypes.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

enum {
	LETTERS = sizeof(letters) - 1,
	TIMES_MOST = LETTERS, /* that are told apart */
	LETTER_COST = 32,     /* bytes of a value beside its letter, at most */
};

enum part_type { PART_INT32, PART_INT64, PART_TIME };

static const struct part {
	const char *key;
	enum part_type type;
	size_t offset;
} parts[] = {
	{ "generation", PART_INT64, offsetof(struct restart_level, generation) },
	{ "streak", PART_INT32, offsetof(struct restart_level, streak) },
	{ "restartedAt", PART_TIME, offsetof(struct restart_level, at) },
	{ "counted", PART_INT32, offsetof(struct restart_level, counted) },
	{ "barren", PART_INT32, offsetof(struct restart_level, barren) },
	{ "before", PART_INT64, offsetof(struct restart_level, before) },
	{ "exitCode", PART_INT32, offsetof(struct restart_level, exit_code) },
};

static int64_t part_get(const struct part *p, const struct restart_level *l)
{
	const void *at = (const char *)l + p->offset;

	return p->type == PART_INT32 ? *(const int32_t *)at : *(const int64_t *)at;
}

static void part_raise(const struct part *p, struct restart_level *l, int64_t value)
{
	void *at = (char *)l + p->offset;

	if (p->type == PART_INT32)
		*(int32_t *)at = MAX(*(int32_t *)at, (int32_t)value);
	else
		*(int64_t *)at = MAX(*(int64_t *)at, value);
}

/* One replica's value of one part. */
struct entry {
	int64_t value;
	int32_t index;
	uint32_t part;
};

static int by_value(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_index(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* Sorted by value. */
static size_t collect(const struct record_role *role, const struct part *p, struct entry *to)
{
	size_t n = 0;

	for (size_t i = 0; i < role->n_indexes; i++) {
		int64_t value = part_get(p, &role->indexes[i].level);

		if (value)
			to[n++] = (struct entry){ value, role->indexes[i].index, 0 };
	}
	if (n)
		qsort(to, n, sizeof(*to), by_value);
	return n;
}

static size_t count_values(const struct entry *v, size_t n)
{
	size_t values = 0;

	for (size_t i = 0; i < n; i++)
		values += i == 0 || v[i].value != v[i - 1].value;
	return values;
}

/* A thousand moments would take more room than what happened in them: a back-off may be some seconds longer. */
static void round_times(struct entry *v, size_t n)
{
	static const msec steps[] = { SECONDS(10), MINUTES(1), MINUTES(10), MINUTES(60), MINUTES(1440) };

	for (size_t s = 0; s < ARRAY_LEN(steps) && count_values(v, n) > TIMES_MOST; s++) {
		for (size_t i = 0; i < n; i++)
			v[i].value = (v[i].value + steps[s] - 1) / steps[s] * steps[s];
		qsort(v, n, sizeof(*v), by_value);
	}
}

static struct str value_text(const struct part *p, int64_t value, char to[static TIME_TEXT])
{
	if (p->type == PART_TIME)
		return str_c(time_format(value, to));
	snprintf(to, TIME_TEXT, "%" PRId64, value);
	return str_c(to);
}

static yyjson_mut_val *write_ranges(yyjson_mut_doc *doc, const struct part *p, const struct entry *v, size_t n,
                                    size_t *bytes)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc);
	struct arena a = ARENA_INIT;
	char text[TIME_TEXT];
	size_t next;

	for (size_t i = 0; i < n; i = next) {
		struct ranges r = { 0 };
		struct str of;

		for (next = i; next < n && v[next].value == v[i].value; next++)
			ranges_add(&r, &a, v[next].index);
		of = ranges_format(&r, &a);
		*bytes += of.n + LETTER_COST;
		json_mut_put(doc, obj, value_text(p, v[i].value, text), json_mut_str(doc, of));
	}
	arena_release(&a);
	return obj;
}

/* The replicas from..to, of at most LETTERS different values. */
static yyjson_mut_val *write_letters(yyjson_mut_doc *doc, const struct part *p, const struct entry *v, size_t n,
                                     int32_t from, int32_t to)
{
	yyjson_mut_val *obj = yyjson_mut_obj(doc), *of = yyjson_mut_obj(doc);
	struct arena a = ARENA_INIT;
	struct str each = { 0 };
	char *text = arena_raw(&a, (size_t)(to - from) + 1), value[TIME_TEXT];
	size_t letter = 0;

	memset(text, '-', (size_t)(to - from) + 1);
	for (size_t i = 0; i < n; i++) {
		if (i && v[i].value != v[i - 1].value)
			letter++;
		text[v[i].index - from] = letters[letter];
		if (i == 0 || v[i].value != v[i - 1].value)
			json_mut_put(doc, of, (struct str){ &letters[letter], 1 },
			             json_mut_str(doc, value_text(p, v[i].value, value)));
	}
	each = (struct str){ text, (size_t)(to - from) + 1 };
	json_mut_put(doc, obj, STR("letters"), of);
	json_mut_put(doc, obj, STR("from"), yyjson_mut_int(doc, from));
	json_mut_put(doc, obj, STR("each"), json_mut_str(doc, each));
	arena_release(&a);
	return obj;
}

static yyjson_mut_val *write_part(yyjson_mut_doc *doc, const struct part *p, struct entry *v, size_t n)
{
	int32_t from = INT32_MAX, to = 0;
	size_t bytes = 0, values;
	yyjson_mut_val *obj;

	if (p->type == PART_TIME)
		round_times(v, n);
	values = count_values(v, n);
	for (size_t i = 0; i < n; i++) {
		from = MIN(from, v[i].index);
		to = MAX(to, v[i].index);
	}
	obj = write_ranges(doc, p, v, n, &bytes);
	if (values > LETTERS || bytes <= (size_t)(to - from) + (values + 2) * LETTER_COST)
		return obj;
	return write_letters(doc, p, v, n, from, to);
}

yyjson_mut_val *record_index_write(const struct record_role *role, yyjson_mut_doc *doc)
{
	yyjson_mut_val *obj = NULL;
	struct arena a = ARENA_INIT;
	struct entry *v;

	if (!role->n_indexes)
		return NULL;
	v = arena_raw(&a, role->n_indexes * sizeof(*v));
	for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
		size_t n = collect(role, &parts[p], v);

		if (!n)
			continue;
		if (!obj)
			obj = yyjson_mut_obj(doc);
		json_mut_put(doc, obj, str_c(parts[p].key), write_part(doc, &parts[p], v, n));
	}
	arena_release(&a);
	return obj;
}

/* Reading */

struct entries {
	struct entry *v;
	size_t n, cap;
};

static bool read_value(const struct part *p, struct str text, int64_t *ret)
{
	if (p->type == PART_TIME)
		return time_parse(text, ret);
	return str_int(text, ret) && *ret >= 0 && *ret <= (p->type == PART_INT32 ? INT32_MAX : INT64_MAX / 4);
}

static bool read_letters(struct entries *to, size_t part, yyjson_val *obj, struct arena *a)
{
	yyjson_val *of = json_get(obj, "letters");
	struct str each = json_str(json_get(obj, "each"));
	int64_t from, value;

	if (!json_int(json_get(obj, "from"), &from) || from < 0 || from > JOB_MAX_REPLICAS ||
	    each.n > (size_t)(JOB_MAX_REPLICAS - from))
		return false;
	for (size_t i = 0; i < each.n; i++) {
		if (each.p[i] == '-')
			continue;
		if (!read_value(&parts[part], json_str(json_get_str(of, (struct str){ &each.p[i], 1 })), &value))
			return false;
		*vec_push(a, to) = (struct entry){ value, (int32_t)(from + (int64_t)i), (uint32_t)part };
	}
	return true;
}

/* A replica has one value: what says more of them than there can be makes no sense. It is looked at before there is
   memory for it, since a few bytes can name many. */
static bool read_part(struct entries *to, size_t part, yyjson_val *obj, struct arena *a)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(obj);
	yyjson_val *key;
	int32_t left = JOB_MAX_REPLICAS;

	if (obj && !yyjson_is_null(obj) && !yyjson_is_obj(obj))
		return false;
	if (json_get(obj, "each"))
		return read_letters(to, part, obj, a);
	while ((key = yyjson_obj_iter_next(&it))) {
		struct ranges r = { 0 };
		int64_t value;

		if (!read_value(&parts[part], json_str(key), &value) ||
		    !ranges_parse(&r, a, json_str(yyjson_obj_iter_get_val(key)), JOB_MAX_REPLICAS) ||
		    ranges_count(&r) > left)
			return false;
		left -= ranges_count(&r);
		for (size_t i = 0; i < r.n; i++)
			for (int32_t index = r.v[i].from; index <= r.v[i].to; index++)
				*vec_push(a, to) = (struct entry){ value, index, (uint32_t)part };
	}
	return true;
}

/* {"generation": 1, "streak": 1, "restartedAt": "…"}, as it was. */
static bool read_one(struct entries *to, int32_t index, yyjson_val *obj, struct arena *a)
{
	for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
		yyjson_val *val = json_get(obj, parts[p].key);
		struct entry e = { 0, index, (uint32_t)p };

		if (!val || yyjson_is_null(val))
			continue;
		if (parts[p].type == PART_TIME ? !time_parse(json_str(val), &e.value)
		                               : !json_int(val, &e.value) || e.value < 0 || e.value > INT64_MAX / 4)
			return false;
		if (parts[p].type == PART_INT32 && e.value > INT32_MAX)
			return false;
		*vec_push(a, to) = e;
	}
	return true;
}

static bool read_old(struct entries *to, yyjson_val *obj, struct arena *a)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(obj);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&it))) {
		int64_t index;

		if (!str_int(json_str(key), &index) || index < 0 || index >= JOB_MAX_REPLICAS ||
		    !read_one(to, (int32_t)index, yyjson_obj_iter_get_val(key), a))
			return false;
	}
	return true;
}

static bool read_entries(struct entries *to, yyjson_val *obj, yyjson_val *old, struct arena *a)
{
	if (!read_old(to, old, a))
		return false;
	for (size_t p = 0; p < ARRAY_LEN(parts); p++)
		if (!read_part(to, p, json_get(obj, parts[p].key), a))
			return false;
	if (to->n)
		qsort(to->v, to->n, sizeof(*to->v), by_index);
	return true;
}

static size_t count_indexes(const struct entries *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n; i++)
		n += i == 0 || e->v[i].index != e->v[i - 1].index;
	return n;
}

static void take_entries(struct record_role *role, const struct entries *e, size_t n, struct arena *a)
{
	role->indexes = arena_array(a, struct index_level, n);
	role->cap_indexes = n;
	for (size_t i = 0; i < e->n; i++) {
		struct index_level *last;

		if (i == 0 || e->v[i].index != e->v[i - 1].index)
			role->indexes[role->n_indexes++].index = e->v[i].index;
		last = &role->indexes[role->n_indexes - 1];
		part_raise(&parts[e->v[i].part], &last->level, e->v[i].value);
	}
}

bool record_index_read(struct record_role *role, yyjson_val *obj, yyjson_val *old, size_t *room, struct arena *a)
{
	struct arena scratch = ARENA_INIT;
	struct entries e = { 0 };
	bool ok = read_entries(&e, obj, old, &scratch);
	size_t n = ok ? count_indexes(&e) : 0;

	ok = ok && n <= *room;
	if (ok && n) {
		*room -= n;
		take_entries(role, &e, n, a);
	}
	arena_release(&scratch);
	return ok;
}
