#include "term/opts.h"

#include "base/str.h"
#include "term/plain.h"

void opt_list_add(struct opt_list *list, const char *text)
{
	list->v = xrealloc(list->v, (list->n + 1) * sizeof(list->v[0]));
	list->v[list->n++] = text;
}

void opt_list_release(struct opt_list *list)
{
	free(list->v);
	*list = (struct opt_list){ NULL, 0 };
}

static const struct opt *find_opt(const struct opt *opts, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eqc(name, opts[i].name))
			return &opts[i];
	return NULL;
}

static const struct opt *by_letter(const struct opt *opts, size_t n, char letter)
{
	for (size_t i = 0; i < n; i++)
		if (opts[i].letter == letter)
			return &opts[i];
	return NULL;
}

static bool unknown_name(const struct opt *opts, size_t n, struct str name, struct err *e)
{
	const char *nearest = NULL;
	unsigned least = 3;

	for (size_t i = 0; i < n; i++) {
		unsigned d = str_distance(name, str_c(opts[i].name), 2);

		if (d < least) {
			least = d;
			nearest = opts[i].name;
		}
	}
	if (nearest)
		return err_set(e, ERR_INVALID, "unknown option --%.*s; did you mean --%s?", STR_F(name), nearest);
	return err_set(e, ERR_INVALID, "unknown option --%.*s", STR_F(name));
}

static bool take_value(const struct opt *o, const char *value, struct err *e)
{
	int64_t number;

	if (o->flag)
		*o->flag = true;
	else if (o->text)
		*o->text = value;
	else if (o->list)
		opt_list_add(o->list, value);
	else if (!str_int(str_c(value), &number) || number < 0 || number > INT32_MAX)
		return err_set(e, ERR_INVALID, "--%s wants a number, not '%s'", o->name, value);
	else
		*o->number = (int32_t)number;
	return true;
}

/* --name, --name=value, --name value. Moves *I on if the value is an argument of its own. */
static bool take_long(const struct opt *opts, size_t n, int argc, char **argv, int *i, struct err *e)
{
	struct str rest = str_c(argv[*i] + 2), name;
	const char *equals = strchr(argv[*i] + 2, '=');
	const struct opt *o;

	name = equals ? str_sub(rest, 0, (size_t)(equals - rest.p)) : rest;
	o = find_opt(opts, n, name);
	if (!o)
		return unknown_name(opts, n, name, e);
	if (!o->value && equals)
		return err_set(e, ERR_INVALID, "--%s takes no value", o->name);
	if (o->value && !equals && *i + 1 >= argc)
		return err_set(e, ERR_INVALID, "--%s wants a value: %s", o->name, o->value);
	return take_value(o, !o->value ? NULL : equals ? equals + 1 : argv[++*i], e);
}

/* -x, -xy, -x value, -xvalue. */
static bool take_short(const struct opt *opts, size_t n, int argc, char **argv, int *i, struct err *e)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct opt *o = by_letter(opts, n, *p);

		if (!o)
			return err_set(e, ERR_INVALID, "unknown option -%c", *p);
		if (!o->value) {
			if (!take_value(o, NULL, e))
				return false;
			continue;
		}
		if (p[1])
			return take_value(o, p + 1, e);
		if (*i + 1 >= argc)
			return err_set(e, ERR_INVALID, "-%c wants a value: %s", *p, o->value);
		return take_value(o, argv[++*i], e);
	}
	return true;
}

int opts_parse(const struct opt *opts, size_t n, int argc, char **argv, struct err *e)
{
	int operands = 0;
	bool ended = false;

	/* A table that was made too long. */
	for (size_t i = 0; i < n; i++)
		ASSERT(opts[i].name);
	for (int i = 0; i < argc; i++) {
		char *arg = argv[i];

		if (ended || arg[0] != '-' || !arg[1]) {
			argv[operands++] = arg;
		} else if (arg[1] != '-') {
			if (!take_short(opts, n, argc, argv, &i, e))
				return -1;
		} else if (!arg[2]) {
			ended = true;
		} else if (!take_long(opts, n, argc, argv, &i, e)) {
			return -1;
		}
	}
	return operands;
}

void opts_help(const struct opt *opts, size_t n, FILE *to)
{
	for (size_t i = 0; i < n; i++) {
		const struct opt *o = &opts[i];
		int width = 0;

		width += o->letter ? fprintf(to, "  -%c, ", o->letter) : fprintf(to, "      ");
		width += fprintf(to, "--%s%s", o->name, o->value ? " " : "");
		/* Not its bytes: … has three. */
		width += plain_columns(str_c(o->value));
		fprintf(to, "%s%*s%s\n", o->value ? o->value : "", MAX(28 - width, 2), "", o->help);
	}
}
