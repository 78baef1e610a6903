#include "local/store/answer.h"

#include "local/store/meta.h"
#include "object/status.h"

#include <stdarg.h>

enum { ANSWER_MAX = STORE_BODY_MAX + (1 << 20) };

struct details {
	struct str name, kind, uid;
	const char *field;        /* of an invalid object … */
	struct str field_message; /* … and what is wrong with it */
};

static void put_details(struct buf *b, const struct store_call *c, const struct details *d)
{
	buf_put(b, STR("{\"name\":"));
	buf_json_str(b, d->name);
	if (!str_empty(c->type->pub.group)) {
		buf_put(b, STR(",\"group\":"));
		buf_json_str(b, c->type->pub.group);
	}
	buf_put(b, STR(",\"kind\":"));
	buf_json_str(b, d->kind);
	if (!str_empty(d->uid)) {
		buf_put(b, STR(",\"uid\":"));
		buf_json_str(b, d->uid);
	}
	if (d->field) {
		buf_put(b, STR(",\"causes\":[{\"reason\":\"FieldValueInvalid\",\"message\":"));
		buf_json_str(b, d->field_message);
		buf_printf(b, ",\"field\":\"%s\"}]", d->field);
	}
	buf_putc(b, '}');
}

static bool put_status(struct store_call *c, enum http_code code, const char *reason, struct str message,
                       const struct details *d)
{
	struct buf *b = &c->ret->body, details = BUF_INIT(ANSWER_MAX);

	c->ret->code = (int)code;
	c->ret->rv = 0;
	buf_release(b);
	*b = (struct buf)BUF_INIT(ANSWER_MAX);
	if (d)
		put_details(&details, c, d);
	status_put(b, &(struct status){ code, reason, message, buf_str(&details) });
	buf_release(&details);
	return code < HTTP_BAD_REQUEST;
}

__attribute__((format(printf, 2, 0))) static struct str format(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	ASSERT(n >= 0);
	text = arena_raw(a, (size_t)n + 1);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	return (struct str){ text, (size_t)n };
}

/* What a stranger wrote is quoted whole only if it is short. */
static struct str clip(struct str s)
{
	size_t n = MIN(s.n, (size_t)512);

	while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return str_sub(s, 0, n);
}

bool answer_refusal(struct store_call *c, enum http_code code, const char *reason, const char *fmt, ...)
{
	struct str message;
	va_list ap;

	va_start(ap, fmt);
	message = format(&c->s->arena, fmt, ap);
	va_end(ap);
	return put_status(c, code, reason, message, NULL);
}

bool answer_not_found(struct store_call *c, struct str name)
{
	struct details d = { .name = clip(name), .kind = c->type->pub.plural };

	return put_status(
		c, HTTP_NOT_FOUND, "NotFound",
		arena_printf(&c->s->arena, "%.*s \"%.*s\" not found", STR_F(c->type->resource), STR_F(d.name)), &d);
}

bool answer_exists(struct store_call *c, struct str name)
{
	struct details d = { .name = clip(name), .kind = c->type->pub.plural };

	return put_status(
		c, HTTP_CONFLICT, "AlreadyExists",
		arena_printf(&c->s->arena, "%.*s \"%.*s\" already exists", STR_F(c->type->resource), STR_F(d.name)),
		&d);
}

bool answer_conflict(struct store_call *c, struct str name, const char *fmt, ...)
{
	struct details d = { .name = clip(name), .kind = c->type->pub.plural };
	struct str why;
	va_list ap;

	va_start(ap, fmt);
	why = format(&c->s->arena, fmt, ap);
	va_end(ap);
	return put_status(c, HTTP_CONFLICT, "Conflict",
	                  arena_printf(&c->s->arena, "Operation cannot be fulfilled on %.*s \"%.*s\": %.*s",
	                               STR_F(c->type->resource), STR_F(d.name), STR_F(why)),
	                  &d);
}

static struct str kind_and_group(const struct store_call *c)
{
	const struct store_type *t = &c->type->pub;

	return str_empty(t->group) ? t->kind : arena_printf(&c->s->arena, "%.*s.%.*s", STR_F(t->kind), STR_F(t->group));
}

bool answer_invalid(struct store_call *c, struct str name, const char *field, const char *fmt, ...)
{
	struct details d = { .name = clip(name), .kind = c->type->pub.kind, .field = field };
	va_list ap;

	va_start(ap, fmt);
	d.field_message = clip(format(&c->s->arena, fmt, ap));
	va_end(ap);
	return put_status(c, HTTP_INVALID, "Invalid",
	                  arena_printf(&c->s->arena, "%.*s \"%.*s\" is invalid: %s: %.*s", STR_F(kind_and_group(c)),
	                               STR_F(d.name), field, STR_F(d.field_message)),
	                  &d);
}

bool answer_undecodable(struct store_call *c, const char *fmt, ...)
{
	const struct store_type *t = &c->type->pub;
	struct str why;
	va_list ap;

	va_start(ap, fmt);
	why = clip(format(&c->s->arena, fmt, ap));
	va_end(ap);
	/* What a patch makes of an object is no body that somebody wrote. */
	if (c->r->verb == STORE_PATCH)
		return answer_refusal(c, HTTP_INVALID, "Invalid", "%.*s is invalid: patch: %.*s",
		                      STR_F(kind_and_group(c)), STR_F(why));
	return answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest",
	                      "%.*s in version \"%.*s\" cannot be handled as a %.*s: %.*s", STR_F(t->kind),
	                      STR_F(t->version), STR_F(t->kind), STR_F(why));
}

struct str answer_api_version(const struct stored_type *t, struct arena *a)
{
	return str_empty(t->pub.group) ? t->pub.version
	                               : arena_printf(a, "%.*s/%.*s", STR_F(t->pub.group), STR_F(t->pub.version));
}

struct str answer_in_version(struct store *s, const struct stored_type *t, struct str text)
{
	struct buf b = BUF_INIT(ANSWER_MAX);
	struct str want = answer_api_version(t, &s->arena);
	yyjson_doc *read CLEANUP(json_docp) = t->several ? json_parse(text, NULL) : NULL;
	yyjson_mut_doc *doc CLEANUP(json_mut_docp) = NULL;
	yyjson_val *root = yyjson_doc_get_root(read);

	if (!root || str_eq(json_str(json_get(root, "apiVersion")), want))
		return text;
	doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, root));
	meta_put_str(doc, yyjson_mut_doc_get_root(doc), "apiVersion", want);
	json_write(yyjson_mut_doc_get_root(doc), &b);
	text = arena_str(&s->arena, buf_str(&b));
	buf_release(&b);
	return text;
}

bool answer_object(struct store_call *c, enum http_code code, struct str text, uint64_t rv)
{
	c->ret->code = (int)code;
	c->ret->rv = rv;
	c->ret->body = (struct buf)BUF_INIT(ANSWER_MAX);
	buf_put(&c->ret->body, answer_in_version(c->s, c->type, text));
	return true;
}

bool answer_deleted(struct store_call *c, const struct db_row *row)
{
	struct details d = { .name = row->name, .kind = c->type->pub.plural, .uid = row->uid };

	return put_status(c, HTTP_OK, NULL, STR_NONE, &d);
}
