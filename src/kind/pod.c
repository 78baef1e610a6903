/* The pod of one replica: the user's template, kept whole, with names, labels, owner and variables. */
#include "kind/parts.h"

void kind_put_label(struct buf *out, bool *first, struct str key, struct str value)
{
	if (!*first)
		buf_putc(out, ',');
	*first = false;
	buf_json_str(out, key);
	buf_putc(out, ':');
	buf_json_str(out, value);
}

void kind_put_job_labels(const struct kind_job *kj, struct buf *out, bool *first)
{
	kind_put_label(out, first, STR(LABEL_UID), kj->job->uid);
	kind_put_label(out, first, STR(LABEL_KIND), kj->job->kind);
	kind_put_label(out, first, STR(LABEL_JOB), kj->job->name);
}

void kind_put_own_labels(const struct kind_job *kj, const struct role *role, int32_t index, int64_t generation,
                         struct buf *out, bool *first)
{
	kind_put_job_labels(kj, out, first);
	kind_put_label(out, first, STR(LABEL_ROLE), role->name);
	buf_printf(out, ",\"" LABEL_INDEX "\":\"%d\",\"" LABEL_GENERATION "\":\"%lld\"", index, (long long)generation);
}

bool kind_found_room(const struct buf *out, const char *noun, struct str name, struct err *e)
{
	return !out->overflow ||
	       err_set(e, ERR_LIMIT, "the %s %.*s is larger than %zu MiB", noun, STR_F(name), out->max >> 20);
}

void kind_put_owner(const struct kind_job *kj, struct buf *out)
{
	const struct kind *k = &kj->file->kind;

	buf_printf(out,
	           ",\"ownerReferences\":[{\"apiVersion\":\"%.*s/%.*s\",\"kind\":\"%.*s\",\"name\":", STR_F(k->group),
	           STR_F(k->version), STR_F(k->kind));
	buf_json_str(out, kj->job->name);
	buf_put(out, STR(",\"uid\":"));
	buf_json_str(out, kj->job->uid);
	buf_put(out, STR(",\"controller\":true,\"blockOwnerDeletion\":true}]"));
}

static bool has_pair(const struct pairs *ps, struct str name)
{
	for (size_t i = 0; i < ps->list.n; i++)
		if (str_eq(ps->list.v[i].name, name))
			return true;
	return false;
}

static bool is_own_label(struct str key)
{
	static const struct str own[] = { STR_INIT(LABEL_UID),  STR_INIT(LABEL_KIND),  STR_INIT(LABEL_JOB),
		                          STR_INIT(LABEL_ROLE), STR_INIT(LABEL_INDEX), STR_INIT(LABEL_GENERATION) };

	if (!str_has_prefix(key, STR(LABEL_DOMAIN)))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (str_eq(key, own[i]))
			return true;
	return false;
}

/* The template's, the kind's over them, ours over all. */
static void put_labels(const struct pod_parts *parts, const struct pod_say *say, struct buf *out, bool *first)
{
	for (size_t i = 0; i < parts->n_labels; i++) {
		const struct fixed_label *l = &parts->labels[i];

		if (has_pair(&say->labels, l->key) || is_own_label(l->key))
			continue;
		if (!*first)
			buf_putc(out, ',');
		*first = false;
		buf_put(out, l->text);
	}
	for (size_t i = 0; i < say->labels.list.n; i++)
		if (!is_own_label(say->labels.list.v[i].name))
			kind_put_label(out, first, say->labels.list.v[i].name, pair_text(&say->labels.list.v[i]));
}

/* --- variables --- */

static void put_part(const struct kind_job *kj, struct str s, struct buf *out)
{
	struct str text = s.n >= CACHE_FROM && kj->cache ? text_cache_get(kj->cache, s) : STR_NONE;
	size_t at = out->n;

	if (text.n) {
		buf_put(out, text);
		return;
	}
	/* Without the quotes: parts are put one after the other. */
	buf_json_str(out, s);
	if (out->overflow)
		return;
	memmove(out->p + at, out->p + at + 1, out->n - at - 2);
	out->n -= 2;
}

static void put_var(struct kind_job *kj, const struct pair *v, struct buf *out)
{
	buf_put(out, STR("{\"name\":"));
	buf_json_str(out, v->name);
	buf_put(out, STR(",\"value\":\""));
	for (size_t i = 0; i < v->n_parts; i++)
		put_part(kj, v->parts[i], out);
	buf_put(out, STR("\"}"));
}

static bool is_taken(const struct hole *h, struct str name)
{
	for (size_t i = 0; i < h->n_taken; i++)
		if (str_eq(h->taken[i], name))
			return true;
	return false;
}

static void fill(struct kind_job *kj, const struct hole *h, const struct pod_say *say, struct buf *out)
{
	const struct pairs *sources[] = { &say->env, &h->own };
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		for (size_t k = 0; k < sources[i]->list.n; k++) {
			const struct pair *v = &sources[i]->list.v[k];

			if (is_taken(h, v->name))
				continue;
			if (h->bare)
				buf_put(out, any ? STR(",") : STR(",\"env\":["));
			any = true;
			put_var(kj, v, out);
			if (!h->bare) /* the user's follow */
				buf_putc(out, ',');
		}
	if (h->bare && any)
		buf_putc(out, ']');
}

/* --- the whole --- */

static void put_choice(struct buf *out, const char *key, struct str chosen, struct str text)
{
	if (!chosen.n && !text.n)
		return;
	buf_printf(out, ",\"%s\":", key);
	if (chosen.n)
		buf_json_str(out, chosen);
	else
		buf_put(out, text);
}

static void put_pod(struct kind_job *kj, const struct pod_parts *parts, const struct pod_say *say, size_t role,
                    int32_t index, int64_t generation, struct buf *out)
{
	bool first = true;

	buf_put(out, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"));
	buf_json_str(out, buf_str(&kj->pod_name));
	buf_put(out, STR(",\"namespace\":"));
	buf_json_str(out, kj->job->ns);
	buf_put(out, STR(",\"labels\":{"));
	put_labels(parts, say, out, &first);
	kind_put_own_labels(kj, &kj->job->roles[role], index, generation, out, &first);
	buf_putc(out, '}');
	buf_put(out, parts->meta);
	for (size_t i = 0; i < parts->n_holes; i++) {
		buf_put(out, parts->holes[i].before);
		fill(kj, &parts->holes[i], say, out);
	}
	buf_put(out, parts->rest);
	/* The user's own host name stays; a scheduler that the job names goes before the template's. */
	put_choice(out, "hostname", parts->hostname.n ? STR_NONE : say->hostname, parts->hostname);
	put_choice(out, "schedulerName", say->scheduler, parts->scheduler);
	buf_put(out, STR("}}"));
}

bool kind_pod(struct kind_job *kj, size_t role, int32_t index, int64_t generation, int32_t restarts, struct buf *out,
              struct err *e)
{
	const struct pod_parts *parts;
	struct kind_names names;
	struct pod_say say;
	bool ok;

	if (kj->job->problems.errors)
		return err_set(e, ERR_INVALID, "the job is invalid");
	ASSERT(role < kj->job->n_roles);
	parts = pod_parts_of(kj, role, e);
	kj->building = true;
	ok = parts && kind_names(kj, role, index, &names, e) && pod_say_begin(&say, kj, role, index, restarts, e);
	kj->building = false;
	if (!ok)
		return false;
	put_pod(kj, parts, &say, role, index, generation, out);
	pod_say_end(kj);
	return kind_found_room(out, "pod", names.pod, e);
}
