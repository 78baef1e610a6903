#include "client/report.h"

#include "client/edit.h"
#include "object/config_data.h"
#include "term/colors.h"
#include "term/plain.h"

enum { NUMBER_SHOWN = 40 };

static const struct {
	const char *word, *color;
} levels[] = {
	[REPORT_ERROR] = { "error", "\033[1;31m" },
	[REPORT_WARNING] = { "warning", "\033[1;33m" },
	[REPORT_NOTE] = { "note", "\033[1;36m" },
};

struct cli_report report_to(FILE *to)
{
	return (struct cli_report){ .to = to, .colors = colors_wanted(to) };
}

void report_line(struct cli_report *r, enum report_level level, const char *file, struct yaml_pos pos, struct str field,
                 struct str message)
{
	r->errors += level == REPORT_ERROR;
	r->warnings += level == REPORT_WARNING;
	plain_printf(r->to, "%s:", strcmp(file, "-") ? file : "<stdin>");
	if (pos.line)
		fprintf(r->to, "%zu:", pos.line);
	if (pos.line && pos.column)
		fprintf(r->to, "%zu:", pos.column);
	fprintf(r->to, " %s%s:%s ", r->colors ? levels[level].color : "", levels[level].word,
	        r->colors ? "\033[0m" : "");
	if (!str_empty(field))
		plain_printf(r->to, "%.*s: ", STR_F(field));
	plain_printf(r->to, "%.*s\n", STR_F(message));
}

/* Takes "LINE:COLUMN: " or "LINE: " off the front of *REST. */
static void take_position(struct str *rest, struct yaml_pos *ret)
{
	size_t *numbers[] = { &ret->line, &ret->column };
	struct str s = *rest, word;
	int64_t n;

	for (size_t i = 0; i < ARRAY_LEN(numbers) && str_next(&s, ':', &word) && str_int(word, &n); i++) {
		*numbers[i] = (size_t)n;
		*rest = str_trim(s);
	}
}

/* MESSAGE may begin with its own "file:line:column: ". */
static void report_unreadable(struct cli_report *r, const char *file, struct str message)
{
	struct yaml_pos pos = { 0, 0 };
	size_t n = strlen(file);

	if (message.n > n + 1 && str_has_prefix(message, str_c(file)) && message.p[n] == ':') {
		message = str_trim(str_sub(message, n + 1, message.n));
		take_position(&message, &pos);
	}
	report_line(r, REPORT_ERROR, file, pos, STR_NONE, message);
}

void report_kind(struct cli_report *r, const struct kind *kind, struct str message)
{
	/* Its file ends in a zero: it is the arena's. */
	report_unreadable(r, kind->file.p, message);
}

bool report_open(struct cli_report *r, const char *file, const struct kinds *kinds, struct arena *a,
                 struct manifest *ret)
{
	struct err e = ERR_INIT;

	*ret = (struct manifest){ .yaml = yaml_read(file, &e), .kinds = kinds, .arena = a };
	if (!ret->yaml)
		report_unreadable(r, file, str_c(err_msg(&e)));
	err_release(&e);
	return ret->yaml;
}

void report_object(struct cli_report *r, const char *file, const struct manifest *m, const struct manifest_object *o)
{
	struct str path = manifest_path(m->arena, o, o->field);

	report_line(r, o->class == OBJECT_FOREIGN ? REPORT_NOTE : REPORT_ERROR, file, yaml_where(m->yaml, o->doc, path),
	            path, o->message);
}

static enum report_level level_of(const struct problem *p)
{
	return p->severity == PROBLEM_ERROR ? REPORT_ERROR : REPORT_WARNING;
}

/* How a number must be quoted stands in the file alone: of 3.10 and 0777 the reader has made 3.1 and 511. */
static struct str with_number(const struct manifest *m, const struct manifest_object *o, struct str path,
                              struct str message)
{
	struct str number = yaml_number(m->yaml, o->doc, path);

	if (!str_has_suffix(message, STR(JSON_QUOTE_IT)) || !number.n || number.n > NUMBER_SHOWN)
		return message;
	return arena_printf(m->arena, "%.*s: \"%.*s\"", STR_F(message), STR_F(number));
}

static void report_in_object(struct cli_report *r, const char *file, const struct manifest *m,
                             const struct manifest_object *o, enum report_level level, struct str path,
                             struct str message)
{
	path = manifest_path(m->arena, o, path);
	report_line(r, level, file, yaml_where(m->yaml, o->doc, path), path, with_number(m, o, path, message));
}

void report_config(struct cli_report *r, const char *file, const struct manifest *m, const struct manifest_object *o)
{
	struct problems found = { .arena = m->arena };
	const struct pod_fields_check c = { .problems = &found, .unknown = r->unknown };
	struct config_fault faults[PROBLEMS_MAX];
	struct str kind = json_str(json_get(o->root, "kind"));
	size_t n;

	if (!str_eqc(json_str(json_get(o->root, "apiVersion")), "v1") ||
	    (!str_eqc(kind, "ConfigMap") && !str_eqc(kind, "Secret")))
		return;
	pod_fields_check_metadata(&c, json_get(o->root, "metadata"), STR("metadata"));
	for (size_t i = 0; i < found.list.n; i++)
		report_in_object(r, file, m, o, level_of(&found.list.v[i]), found.list.v[i].path,
		                 found.list.v[i].message);
	n = config_faults(o->root, m->arena, faults, ARRAY_LEN(faults));
	for (size_t i = 0; i < n; i++)
		report_in_object(r, file, m, o, REPORT_ERROR, faults[i].path, faults[i].message);
}

struct placed {
	const struct problem *problem;
	struct str path, message;
	struct yaml_pos pos;
};

bool report_edit(struct cli_report *r, struct arena *a, const struct problem *p)
{
	bool unknown = str_has_prefix(p->message, STR("unknown field"));
	const char *set = r->edits ? edits_blamed(r->edits, p->path, unknown) : NULL;

	if (set)
		report_line(r, level_of(p), arena_printf(a, "--set %s", set).p, (struct yaml_pos){ 0, 0 }, p->path,
		            p->message);
	return set;
}

static void report_problem(struct cli_report *r, const char *file, struct arena *a, const struct placed *at)
{
	if (!report_edit(r, a, at->problem))
		report_line(r, level_of(at->problem), file, at->pos, at->path, at->message);
}

static bool is_before(const struct placed *a, const struct placed *b)
{
	return a->pos.line != b->pos.line ? a->pos.line < b->pos.line : a->pos.column < b->pos.column;
}

void report_job(struct cli_report *r, const char *file, const struct manifest *m, const struct manifest_object *o,
                const struct problems *p)
{
	struct placed *all = arena_array(m->arena, struct placed, p->list.n);

	/* In the order of the file; there are at most PROBLEMS_MAX of them. */
	for (size_t i = 0; i < p->list.n; i++) {
		struct placed one = { .problem = &p->list.v[i] };
		size_t at = i;

		one.path = manifest_path(m->arena, o, one.problem->path);
		one.message = with_number(m, o, one.path, one.problem->message);
		one.pos = yaml_where(m->yaml, o->doc, one.path);
		for (; at > 0 && is_before(&one, &all[at - 1]); at--)
			all[at] = all[at - 1];
		all[at] = one;
	}
	for (size_t i = 0; i < p->list.n; i++)
		report_problem(r, file, m->arena, &all[i]);
	if (p->dropped)
		report_line(r, REPORT_NOTE, file, (struct yaml_pos){ 0, 0 }, STR_NONE,
		            arena_printf(m->arena, "%zu more problems", p->dropped));
}
