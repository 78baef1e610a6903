#include "local/store/select.h"

enum selector_op { OP_IN, OP_NOT_IN, OP_EXISTS, OP_MISSING, OP_MORE, OP_LESS };

struct requirement {
	struct str key;
	enum selector_op op;
	VEC(struct str) values;
};

struct selector {
	VEC(struct requirement) labels, fields;
};

/* Labels: a, !a, a=b, a==b, a!=b, a in (b,c), a notin (b,c), a>1, a<1, with commas between. */

static void skip_blanks(struct str *s)
{
	while (s->n && (s->p[0] == ' ' || s->p[0] == '\t'))
		*s = str_sub(*s, 1, s->n);
}

static bool take_mark(struct str *s, struct str mark)
{
	skip_blanks(s);
	if (!str_has_prefix(*s, mark))
		return false;
	*s = str_sub(*s, mark.n, s->n);
	return true;
}

/* A key, a value or an operator in letters; may be empty. */
static struct str word(struct str *s)
{
	struct str ret;
	size_t n = 0;

	skip_blanks(s);
	while (n < s->n && !memchr(" \t,()!=<>", s->p[n], 9))
		n++;
	ret = str_sub(*s, 0, n);
	*s = str_sub(*s, n, s->n);
	return ret;
}

static bool read_set(struct requirement *r, struct str *s, struct arena *a)
{
	if (!take_mark(s, STR("(")))
		return false;
	do
		*vec_push(a, &r->values) = word(s);
	while (take_mark(s, STR(",")));
	return take_mark(s, STR(")"));
}

static bool read_operator(struct requirement *r, struct str *s, struct arena *a)
{
	struct str name;

	skip_blanks(s);
	if (str_empty(*s) || s->p[0] == ',') {
		r->op = OP_EXISTS;
		return true;
	}
	if (take_mark(s, STR("!="))) {
		r->op = OP_NOT_IN;
		*vec_push(a, &r->values) = word(s);
		return true;
	}
	if (take_mark(s, STR("==")) || take_mark(s, STR("="))) {
		r->op = OP_IN;
		*vec_push(a, &r->values) = word(s);
		return true;
	}
	if (take_mark(s, STR(">")) || take_mark(s, STR("<"))) {
		int64_t n;

		r->op = s->p[-1] == '>' ? OP_MORE : OP_LESS;
		*vec_push(a, &r->values) = word(s);
		return str_int(r->values.v[0], &n);
	}
	name = word(s);
	r->op = str_eqc(name, "notin") ? OP_NOT_IN : OP_IN;
	return (str_eqc(name, "in") || str_eqc(name, "notin")) && read_set(r, s, a);
}

static bool read_requirement(struct requirement *r, struct str *s, struct arena *a)
{
	bool missing = take_mark(s, STR("!"));

	r->key = word(s);
	if (str_empty(r->key))
		return false;
	if (missing) {
		r->op = OP_MISSING;
		return true;
	}
	return read_operator(r, s, a);
}

static bool read_labels(struct selector *sel, struct str text, struct arena *a, struct err *e)
{
	struct str s = text;

	skip_blanks(&s);
	while (s.n) {
		struct requirement r = { 0 };

		if (!read_requirement(&r, &s, a))
			goto wrong;
		*vec_push(a, &sel->labels) = r;
		skip_blanks(&s);
		if (str_empty(s))
			break;
		if (!take_mark(&s, STR(",")))
			goto wrong;
		skip_blanks(&s);
		if (str_empty(s))
			goto wrong;
	}
	return true;
wrong:
	return err_set(e, ERR_INVALID, "unable to parse requirement: found '%.*s' in '%.*s'", STR_F(str_sub(s, 0, 100)),
	               STR_F(str_sub(text, 0, 200)));
}

/* Fields: a=b, a==b, a!=b, with commas between; only those that the type knows. */

static bool knows_field(const struct stored_type *t, struct str key)
{
	if (str_eqc(key, "metadata.name") || (t->pub.namespaced && str_eqc(key, "metadata.namespace")))
		return true;
	for (size_t i = 0; t->rules->fields[i]; i++)
		if (str_eqc(key, t->rules->fields[i]))
			return true;
	return false;
}

static bool read_fields(const struct stored_type *t, struct selector *sel, struct str text, struct arena *a,
                        struct err *e)
{
	struct str part;

	while (str_next(&text, ',', &part)) {
		struct requirement r = { .op = OP_IN };
		const char *equals = part.n ? memchr(part.p, '=', part.n) : NULL;
		size_t at = equals ? (size_t)(equals - part.p) : 0, end = at + 1;

		if (str_empty(part))
			continue;
		if (!at)
			return err_set(e, ERR_INVALID, "invalid selector: '%.*s'; can't understand '%.*s'",
			               STR_F(str_sub(text, 0, 100)), STR_F(str_sub(part, 0, 100)));
		if (part.p[at - 1] == '!') {
			r.op = OP_NOT_IN;
			at--;
		} else if (end < part.n && part.p[end] == '=') {
			end++;
		}
		r.key = str_trim(str_sub(part, 0, at));
		*vec_push(a, &r.values) = str_sub(part, end, part.n);
		if (!knows_field(t, r.key) && !t->rules->fields[0])
			return err_set(e, ERR_INVALID,
			               "\"%.*s\" is not a known field selector: only \"metadata.name\", "
			               "\"metadata.namespace\"",
			               STR_F(str_sub(r.key, 0, 100)));
		if (!knows_field(t, r.key))
			return err_set(e, ERR_INVALID, "field label not supported: %.*s",
			               STR_F(str_sub(r.key, 0, 100)));
		*vec_push(a, &sel->fields) = r;
	}
	return true;
}

struct selector *selector_new(const struct stored_type *t, struct str labels, struct str fields, struct arena *a,
                              struct err *e)
{
	struct selector *sel = arena_new(a, struct selector);

	if (!read_labels(sel, labels, a, e) || !read_fields(t, sel, fields, a, e))
		return NULL;
	return sel;
}

bool selector_empty(const struct selector *s)
{
	return !s->labels.n && !s->fields.n;
}

static bool one_of(const struct requirement *r, struct str v)
{
	for (size_t i = 0; i < r->values.n; i++)
		if (str_eq(r->values.v[i], v))
			return true;
	return false;
}

/* V NULL: it is not there. */
static bool meets(const struct requirement *r, yyjson_val *v)
{
	int64_t has, limit;

	switch (r->op) {
	case OP_IN:
		return v && one_of(r, json_str(v));
	case OP_NOT_IN:
		return !v || !one_of(r, json_str(v));
	case OP_EXISTS:
		return v;
	case OP_MISSING:
		return !v;
	case OP_MORE:
		return str_int(json_str(v), &has) && str_int(r->values.v[0], &limit) && has > limit;
	case OP_LESS:
		return str_int(json_str(v), &has) && str_int(r->values.v[0], &limit) && has < limit;
	}
	BUG("no operator");
}

/* A field as text: what is missing is empty, or false. */
static struct str field_text(yyjson_val *root, struct str path)
{
	bool source = str_eqc(path, "source"),
	     flag = str_has_suffix(path, STR("hostNetwork")) || str_has_suffix(path, STR("unschedulable"));
	struct str key;

	while (root && str_next(&path, '.', &key))
		root = json_get_str(root, key);
	if (source)
		root = json_get(root, "component");
	if (flag)
		return yyjson_is_true(root) ? STR("true") : STR("false");
	return json_str(root);
}

bool selector_matches(const struct selector *s, yyjson_val *root)
{
	yyjson_val *labels = json_at(root, "metadata", "labels", NULL);

	for (size_t i = 0; i < s->labels.n; i++)
		if (!meets(&s->labels.v[i], json_get_str(labels, s->labels.v[i].key)))
			return false;
	for (size_t i = 0; i < s->fields.n; i++) {
		const struct requirement *r = &s->fields.v[i];

		if (one_of(r, field_text(root, r->key)) != (r->op == OP_IN))
			return false;
	}
	return true;
}

bool selector_same(const struct stored_type *t, yyjson_val *a, yyjson_val *b)
{
	yyjson_val *of_a = json_at(a, "metadata", "labels", NULL), *of_b = json_at(b, "metadata", "labels", NULL);

	if (yyjson_obj_size(of_a) != yyjson_obj_size(of_b) || (of_a && of_b && !json_eq(of_a, of_b)))
		return false;
	for (size_t i = 0; t->rules->fields[i]; i++)
		if (!str_eq(field_text(a, str_c(t->rules->fields[i])), field_text(b, str_c(t->rules->fields[i]))))
			return false;
	return true;
}
