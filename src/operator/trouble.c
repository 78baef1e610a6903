/* What cannot be listed. The jobs of a kind, or the PodGroups, are not waited for then: whoever needs them waits, and
   everybody else is served. It is over when there is a list. */
#include "base/http_code.h"
#include "base/log.h"
#include "operator/internal.h"

enum { ERRORS_LEAST = 3 }; /* errors of a server that is just starting, or changes its leader, pass */

struct trouble {
	enum resource resource;
	int code;
	unsigned errors; /* answers since the last list that may be followed by a good one */
	char *text;      /* NULL: it does not count yet */
	struct trouble *next;
	char kind[];
};

static struct trouble *find_trouble(const struct operator_loop *op, enum resource r, struct str kind)
{
	struct trouble *t = op->troubles;

	while (t && (t->resource != r || !str_eqc(kind, t->kind)))
		t = t->next;
	return t;
}

static struct trouble *find_or_add(struct operator_loop *op, enum resource r, struct str kind)
{
	struct trouble *t = find_trouble(op, r, kind);

	if (t)
		return t;
	t = xcalloc(1, sizeof(*t) + kind.n + 1);
	if (kind.n)
		memcpy(t->kind, kind.p, kind.n);
	t->resource = r;
	t->next = op->troubles;
	op->troubles = t;
	return t;
}

struct str trouble_of(const struct operator_loop *op, enum resource r, struct str kind)
{
	const struct trouble *t = find_trouble(op, r, kind);

	return t && t->text ? str_c(t->text) : STR_NONE;
}

/* Does it say that there will be no list for long? */
static bool lasts(const struct operator_loop *op, struct trouble *t, int code)
{
	switch (code) {
	case 0: /* nobody has answered: that is not about this list */
	case HTTP_UNAUTHORIZED:
	case HTTP_TIMEOUT:
	case HTTP_TOO_MANY:
		return false;
	default:
		break;
	}
	if (code > HTTP_BAD_REQUEST && code < HTTP_SERVER_ERROR && code != HTTP_GONE)
		return true;
	t->errors++;
	/* PodGroups that were listed once stay in the cache: errors that pass hold no job up. */
	return t->errors >= ERRORS_LEAST && (t->resource == RES_JOB || !op->cache.synced[t->resource]);
}

static struct str trouble_text(const struct operator_loop *op, const struct trouble *t, int code, struct str message,
                               struct arena *a)
{
	if (t->resource != RES_JOB)
		return sole_writer(t->resource)->trouble(&op->config.plan, code, message, a);
	return arena_printf(a, "%s: its jobs cannot be listed (%d): %.*s",
	                    cache_listed(&op->cache, RES_JOB, str_c(t->kind)) ? "not watched" : "not served", code,
	                    STR_F(message));
}

/* Everybody whose plan it changes. */
static void look_at_jobs(struct operator_loop *op, enum resource r, struct str kind)
{
	void *value;

	for (size_t at = 0; map_next(&op->cache.jobs, &at, NULL, &value);) {
		struct cached_job *job = value;

		if (r != RES_JOB || str_empty(kind) || str_eq(kind, job->kind))
			operator_look(op, job, r == RES_JOB ? QUEUE_FRESH : QUEUE_RESYNC);
	}
}

/* True: it is news. The text of a server's own errors changes from one to the next. */
static bool set(struct operator_loop *op, struct trouble *t, int code, struct str message)
{
	/* Not op's: one who does not lead never resets it. */
	struct arena a = ARENA_INIT;
	struct str text = trouble_text(op, t, code, message, &a);
	bool news = !t->text || code != t->code || (code < HTTP_SERVER_ERROR && !str_eqc(text, t->text));

	if (news) {
		free(t->text);
		t->text = xstrndup(text.p, text.n);
		t->code = code;
		if (t->resource != RES_JOB)
			look_at_jobs(op, t->resource, STR_NONE);
	}
	arena_release(&a);
	return news;
}

enum trouble_heard operator_trouble(struct operator_loop *op, enum resource r, struct str kind, int code,
                                    struct str message, struct buf *line)
{
	bool minds = r == RES_JOB ? kind.n > 0 : sole_is_used(op, r);
	struct trouble *t;

	if (!minds)
		return TROUBLE_OTHER;
	t = find_or_add(op, r, kind);
	if (!lasts(op, t, code))
		return t->text ? TROUBLE_KNOWN : TROUBLE_OTHER;
	if (!set(op, t, code, message))
		return TROUBLE_KNOWN;
	buf_put(line, str_c(t->text));
	return TROUBLE_NEWS;
}

void trouble_listed(struct operator_loop *op, enum resource r, struct str kind, bool first)
{
	struct trouble **at = &op->troubles, *t = find_trouble(op, r, kind);
	bool over = t && t->text;

	/* A list of all kinds has no trouble of its own. */
	while (t && *at != t)
		at = &(*at)->next;
	if (t) {
		*at = t->next;
		free(t->text);
		free(t);
	}
	if (over && r == RES_JOB)
		log_info(FIELDS(F_STR("kind", kind)), "its jobs can be listed: it is served");
	else if (over)
		log_info(NO_FIELDS, "%ss can be listed again: jobs that waited for them continue", resource_noun(r));
	if (r == RES_JOB ? first : over)
		look_at_jobs(op, r, kind);
}

void operator_troubles(const struct operator_loop *op, struct buf *out)
{
	for (const struct trouble *t = op->troubles; t; t = t->next)
		if (t->text)
			buf_printf(out, "%s%s%s\n", t->kind, *t->kind ? " " : "", t->text);
}

void trouble_release(struct operator_loop *op)
{
	struct trouble *next;

	for (struct trouble *t = op->troubles; t; t = next) {
		next = t->next;
		free(t->text);
		free(t);
	}
}
