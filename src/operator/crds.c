#include "operator/crds.h"

#include "base/http_code.h"
#include "base/json.h"
#include "object/delete_options.h"

#include <stdarg.h>

enum { BODY_MAX = 1 << 20 };

static const msec retry_after_failure = SECONDS(1), ask_established = 100, established_within = MINUTES(1);

enum state { LOOK, CREATE, PATCH, WAIT, PROBE, DONE };

struct crd {
	struct crd_options options;
	struct arena arena;
	struct str kind, group, version, plural, kind_name; /* kind: its id */
	struct str name, path, probe;                       /* of the CRD; of a list of jobs */
	struct str manifest;                                /* JSON */
	int64_t revision;
	struct buf body;
	enum state state;
	bool busy, served, created;
	msec next, waiting_since;
	struct str rv, uid;
	const char *what; /* was done */
	char text[512];
};

static const char collection[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
static const char *const annotation_revision = LABEL_DOMAIN "revision";

/* The revision that a CRD carries; 0: it is not ours. */
static int64_t revision_of(yyjson_val *crd)
{
	struct str s = json_str(json_get(json_at(crd, "metadata", "annotations", NULL), annotation_revision));
	int64_t n = 0;

	return str_int(s, &n) && n > 0 ? n : 0;
}

static void make_crd(struct crd *c, struct kinds *kinds, const struct kind *kind)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	CLEANUP(json_docp) yyjson_doc *read = NULL;
	struct buf text = BUF_INIT(BODY_MAX);
	struct err e = ERR_INIT;
	yyjson_mut_val *crd = kind_crd(kinds, kind, doc, &e);

	ASSERT(crd);
	json_write(crd, &text);
	ASSERT(!text.overflow);
	c->manifest = arena_str(&c->arena, buf_str(&text));
	read = json_parse(c->manifest, NULL);
	ASSERT(read);
	c->revision = revision_of(yyjson_doc_get_root(read));
	ASSERT(c->revision > 0);
	buf_release(&text);
}

static struct str probe_path(struct crd *c)
{
	if (str_empty(c->options.ns))
		return arena_printf(&c->arena, "/apis/%.*s/%.*s/%.*s?limit=1", STR_F(c->group), STR_F(c->version),
		                    STR_F(c->plural));
	return arena_printf(&c->arena, "/apis/%.*s/%.*s/namespaces/%.*s/%.*s?limit=1", STR_F(c->group),
	                    STR_F(c->version), STR_F(c->options.ns), STR_F(c->plural));
}

struct crd *crd_new(struct kinds *kinds, const struct kind *kind, const struct crd_options *o)
{
	struct crd *c = xcalloc(1, sizeof(*c));

	c->options = *o;
	c->options.ns = arena_str(&c->arena, o->ns);
	c->kind = arena_str(&c->arena, kind->id);
	c->group = arena_str(&c->arena, kind->group);
	c->version = arena_str(&c->arena, kind->version);
	c->plural = arena_str(&c->arena, kind->plural);
	c->kind_name = arena_str(&c->arena, kind->kind);
	c->name = arena_printf(&c->arena, "%.*s.%.*s", STR_F(kind->plural), STR_F(kind->group));
	c->path = arena_printf(&c->arena, "%s/%.*s", collection, STR_F(c->name));
	c->probe = probe_path(c);
	c->body = (struct buf)BUF_INIT(BODY_MAX);
	c->state = o->look ? LOOK : PROBE;
	make_crd(c, kinds, kind);
	return c;
}

void crd_free(struct crd *c)
{
	if (!c)
		return;
	buf_release(&c->body);
	arena_release(&c->arena);
	free(c);
}

bool crd_served(const struct crd *c)
{
	return c->served;
}

const char *crd_text(const struct crd *c)
{
	return c->text;
}

struct str crd_kind(const struct crd *c)
{
	return c->kind;
}

static void PRINTF_LIKE(3, 4) done(struct crd *c, bool served, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, ap);
	va_end(ap);
	c->state = DONE;
	c->served = served;
}

/* The CRD without what a patch must not name, on top of what is there. */
static void put_patch(struct crd *c)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(c->manifest, NULL);
	yyjson_val *root = yyjson_doc_get_root(doc);

	buf_printf(&c->body, "{\"metadata\":{\"resourceVersion\":");
	buf_json_str(&c->body, c->rv);
	buf_printf(&c->body, ",\"annotations\":");
	json_write_val(json_at(root, "metadata", "annotations", NULL), &c->body);
	buf_printf(&c->body, "},\"spec\":");
	json_write_val(json_get(root, "spec"), &c->body);
	buf_printf(&c->body, "}");
}

struct crd_wish crd_next(struct crd *c, msec now)
{
	struct crd_wish w = { .type = CRD_SEND, .at = c->next };

	if (c->state == DONE || c->busy || now < c->next) {
		w.type = c->state == DONE ? CRD_DONE : c->busy ? CRD_BUSY : CRD_SLEEP;
		return w;
	}
	buf_clear(&c->body);
	switch (c->state) {
	case LOOK:
	case WAIT:
		w.call = (struct api_call){ .verb = VERB_GET, .path = c->path };
		break;
	case PROBE:
		w.call = (struct api_call){ .verb = VERB_GET, .path = c->probe };
		break;
	case CREATE:
		w.call = (struct api_call){ VERB_CREATE, str_c(collection), c->manifest };
		break;
	case PATCH:
		put_patch(c);
		w.call = (struct api_call){ VERB_PATCH, c->path, buf_str(&c->body) };
		break;
	case DONE:
		BUG("nothing to send");
	}
	c->busy = true;
	return w;
}

static bool is_true(yyjson_val *val)
{
	return val && yyjson_is_true(val);
}

/* The version that we speak, if it is served; NULL otherwise. */
static yyjson_val *served_version(const struct crd *c, yyjson_val *crd)
{
	yyjson_val *versions = json_at(crd, "spec", "versions", NULL), *v;
	yyjson_arr_iter it;

	if (!yyjson_is_arr(versions))
		return NULL;
	yyjson_arr_iter_init(versions, &it);
	while ((v = yyjson_arr_iter_next(&it)))
		if (str_eq(json_str(json_get(v, "name")), c->version) && is_true(json_get(v, "served")))
			return v;
	return NULL;
}

/* Does the schema keep status.dlOperator? */
static bool keeps_record(yyjson_val *version)
{
	static const char preserve[] = "x-kubernetes-preserve-unknown-fields";
	yyjson_val *root = json_at(version, "schema", "openAPIV3Schema", NULL);
	yyjson_val *status = json_at(root, "properties", "status", NULL);
	yyjson_val *record = json_at(status, "properties", "dlOperator", NULL);

	if (!status)
		return is_true(json_get(root, preserve));
	if (!record)
		return is_true(json_get(status, preserve));
	return is_true(json_get(record, preserve));
}

/* Why a CRD does not do for us; NULL if it does. */
static const char *unfit(const struct crd *c, yyjson_val *crd)
{
	yyjson_val *version = served_version(c, crd);

	if (!str_eqc(json_str(json_at(crd, "spec", "scope", NULL)), "Namespaced"))
		return "its scope is not Namespaced";
	if (!str_eq(json_str(json_at(crd, "spec", "names", "kind", NULL)), c->kind_name))
		return "it is for another kind";
	if (!version)
		return "it does not serve this version";
	if (!json_at(version, "subresources", "status", NULL))
		return "it has no status subresource";
	if (!keeps_record(version))
		return "it does not preserve status.dlOperator";
	return NULL;
}

static yyjson_val *condition(yyjson_val *crd, const char *type)
{
	yyjson_val *list = json_at(crd, "status", "conditions", NULL), *v;
	yyjson_arr_iter it;

	if (!yyjson_is_arr(list))
		return NULL;
	yyjson_arr_iter_init(list, &it);
	while ((v = yyjson_arr_iter_next(&it)))
		if (str_eqc(json_str(json_get(v, "type")), type))
			return v;
	return NULL;
}

static void check_established(struct crd *c, msec now, yyjson_val *crd)
{
	yyjson_val *names = condition(crd, "NamesAccepted");
	const char *why;

	if (str_eqc(json_str(json_get(condition(crd, "Established"), "status")), "True")) {
		why = unfit(c, crd);
		if (why)
			done(c, false, "CRD %.*s is not suitable: %s%s", STR_F(c->name), why,
			     revision_of(crd) ? "" : " (--adopt-crds replaces it)");
		else
			done(c, true, "%s", c->what);
	} else if (str_eqc(json_str(json_get(names, "status")), "False")) {
		done(c, false, "CRD %.*s is not accepted: %.*s", STR_F(c->name),
		     STR_F(json_str(json_get(names, "message"))));
	} else if (now - c->waiting_since >= established_within) {
		done(c, false, "CRD %.*s is not Established after a minute", STR_F(c->name));
	} else {
		c->next = now + ask_established;
	}
}

static void wait_for_it(struct crd *c, msec now, const char *what)
{
	c->state = WAIT;
	c->waiting_since = now;
	c->what = what;
	c->text[0] = '\0';
}

/* What stands there: leave it, or bring it up to date? */
static void found(struct crd *c, msec now, yyjson_val *crd)
{
	int64_t revision = revision_of(crd);

	c->rv = arena_str(&c->arena, json_str(json_at(crd, "metadata", "resourceVersion", NULL)));
	if (c->options.install && (revision ? revision < c->revision : c->options.adopt)) {
		c->state = PATCH;
		return;
	}
	wait_for_it(c, now, revision ? "" : "its CRD was not created by dl-operator and is used unchanged");
	check_established(c, now, crd);
}

/* No answer that decides anything. */
static void retry_crd(struct crd *c, msec now, int code, struct str message)
{
	if (code)
		snprintf(c->text, sizeof(c->text), "%d %.*s", code, STR_F(message));
	else
		snprintf(c->text, sizeof(c->text), "no answer%s%.*s", message.n ? ": " : "", STR_F(message));
	c->next = now + retry_after_failure;
}

static void looked(struct crd *c, msec now, int code, struct str message, yyjson_val *answer)
{
	if (code == HTTP_OK && c->state == LOOK)
		found(c, now, answer);
	else if (code == HTTP_OK)
		check_established(c, now, answer);
	else if (code == HTTP_NOT_FOUND && c->options.install)
		c->state = CREATE;
	else if (code == HTTP_NOT_FOUND)
		done(c, false, "there is no CRD %.*s, and --install-crds is false", STR_F(c->name));
	else if (code == HTTP_FORBIDDEN)
		c->state = PROBE;
	else
		retry_crd(c, now, code, message);
}

static void wrote(struct crd *c, msec now, int code, struct str message, yyjson_val *answer)
{
	bool made = c->state == CREATE;

	if (code == HTTP_OK || code == HTTP_CREATED) {
		c->created = made;
		c->uid = arena_str(&c->arena, json_str(json_at(answer, "metadata", "uid", NULL)));
		wait_for_it(c, now, made ? "created its CRD" : "upgraded its CRD");
	} else if (code == HTTP_CONFLICT || code == HTTP_NOT_FOUND) {
		c->state = LOOK;
	} else if (code == HTTP_FORBIDDEN || code == HTTP_INVALID) {
		done(c, false, "CRD %.*s cannot be %s: %.*s", STR_F(c->name), made ? "created" : "upgraded",
		     STR_F(message));
	} else {
		/* Perhaps it was done. */
		c->state = LOOK;
		retry_crd(c, now, code, message);
	}
}

static void probed(struct crd *c, msec now, int code, struct str message)
{
	if (code == HTTP_OK)
		done(c, true, "its CRD cannot be read and is used unchanged");
	else if (code == HTTP_NOT_FOUND)
		done(c, false, "there is no CRD %.*s", STR_F(c->name));
	else if (code == HTTP_FORBIDDEN)
		done(c, false, "listing its jobs is forbidden: %.*s", STR_F(message));
	else
		retry_crd(c, now, code, message);
}

void crd_answer(struct crd *c, msec now, int code, struct str message, yyjson_val *answer)
{
	c->busy = false;
	switch (c->state) {
	case LOOK:
	case WAIT:
		looked(c, now, code, message, answer);
		break;
	case CREATE:
	case PATCH:
		wrote(c, now, code, message, answer);
		break;
	case PROBE:
		probed(c, now, code, message);
		break;
	case DONE:
		break;
	}
}

bool crd_undo(struct crd *c, struct api_call *ret)
{
	if (!c->created)
		return false;
	buf_clear(&c->body);
	delete_options_put(&c->body, &(struct delete_options){ -1, c->uid, STR_NONE });
	*ret = (struct api_call){ VERB_DELETE, c->path, buf_str(&c->body) };
	return true;
}
