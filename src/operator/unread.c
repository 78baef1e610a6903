#include "operator/unread.h"

#include "operator/children.h"

/* True: HAVE is not what it is now, and a GET must tell. */
static bool doubt(const struct cache *c, struct versions *v, struct str have, const struct skipped *s)
{
	if (!s->gone && str_eq(have, s->meta.rv)) {
		v->ahead = false;
		return false;
	}
	if (versions_older(have, s->meta.rv))
		return false;
	versions_doubt(v, c->sent);
	return true;
}

static void skip_child(struct cache *c, enum resource r, const struct skipped *s, bool in_list)
{
	struct cached_child *ch = cache_child(c, r, s->meta.ns, s->meta.name);
	struct versions *v = ch ? &ch->versions : NULL;
	const struct meta *have = ch ? cached_child_meta(ch) : NULL;
	bool same = have && str_eq(have->uid, s->meta.uid), buried = ch && cached_child_gone(ch);
	bool owned = s->job_uid.n && str_eq(s->job_uid, s->meta.owner_uid);
	/* Of another job, often of one that had this job's name: whoever owns the new one must know of it. */
	bool moves = have && !same && owned && !str_eq(ch->child->job_uid, s->job_uid);

	/* Its end, or a late event of an earlier one of that name. */
	if (!same && (s->gone || (have && !buried && versions_older(have->rv, s->meta.rv)))) {
		cache_remember_gone(c, s->meta.uid);
		return;
	}
	if (cache_was_gone(c, s->meta.uid))
		return;
	if (have && !buried && !moves) {
		/* Under the name of ours stands another one. */
		v->unsure |= !same;
		if (!same || doubt(c, v, have->rv, s))
			cache_changed_uid(c, ch->child->job_uid);
	} else if (owned) {
		v = children_put_unread(c, r, s);
	}
	if (in_list && v)
		v->mark = c->round[r];
}

static void skip_job(struct cache *c, struct str kind, const struct skipped *s, bool in_list)
{
	struct cached_job *job = cache_job(c, kind, s->meta.ns, s->meta.name);
	bool same = job && str_eq(job->meta.uid, s->meta.uid);

	if (!same && (s->gone || (job && versions_older(job->meta.rv, s->meta.rv))))
		cache_remember_gone(c, s->meta.uid);
	/* What we never saw of a job cannot be served. */
	if (!job || (!same && cache_was_gone(c, s->meta.uid)))
		return;
	job->versions.unsure |= !same;
	if (!same || doubt(c, &job->versions, job->meta.rv, s))
		c->changed(c->cookie, job);
	if (in_list)
		job->versions.mark = cache_job_round(c, job->kind);
}

static void skip_node(struct cache *c, const struct skipped *s, bool in_list)
{
	struct cached_node *n = map_get(&c->nodes, s->meta.name);

	if (n && s->gone && !n->node.gone)
		cache_drop_node(c, n);
	else if (n && in_list)
		n->mark = c->round[RES_NODE];
}

void unread_skipped(struct cache *c, enum resource r, struct str kind, const struct skipped *s, bool in_list)
{
	if (resource_is_child(r))
		skip_child(c, r, s, in_list);
	else if (r == RES_JOB)
		skip_job(c, kind, s, in_list);
	else
		skip_node(c, s, in_list);
}
