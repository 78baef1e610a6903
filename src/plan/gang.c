/*
 * The PodGroup of a job: made before the pods that count, kept as the job wants it, gone while nothing of the job
 * shall run. It is written when it differs from what we want, and not because somebody else has added to it.
 */
#include "job/gang.h"
#include "base/http_code.h"
#include "plan/world.h"

#include <inttypes.h>

static bool is_on(const struct world *w)
{
	return w->in->config->gang != GANG_NONE;
}

/* A field that the policy does not set matches any value. */
static bool said_differs(struct str said, struct str have)
{
	return said.n && !str_eq(said, have);
}

static void put_needs(struct buf *b, const struct needs *n)
{
	char text[QUANTITY_TEXT];

	for (size_t i = 0; i < n->n; i++)
		buf_printf(b, " %.*s=%.*s", STR_F(n->v[i].name), STR_F(need_write(&n->v[i], text)));
	buf_putc(b, '\n');
}

/* Of all that we say of a group. */
static uint64_t wish_of(const struct job *job, const struct gang *want)
{
	const struct scheduling *s = &job->scheduling;
	struct buf b = BUF_INIT(1 << 20);
	uint64_t hash;

	buf_printf(&b, "%d %d\n%.*s\n%.*s\n", want->members, s->timeout, STR_F(s->queue), STR_F(s->priority_class));
	put_needs(&b, &want->needs);
	hash = str_hash(buf_str(&b));
	buf_release(&b);
	return hash;
}

uint64_t plan_group_kept(uint64_t wish, const struct group *have)
{
	struct buf b = BUF_INIT(1 << 20);
	uint64_t hash;

	buf_printf(&b, "%" PRIx64 " %d %d\n%.*s\n%.*s\n", wish, have->min_member, have->timeout, STR_F(have->queue),
	           STR_F(have->priority_class));
	put_needs(&b, &have->needs);
	hash = str_hash(buf_str(&b));
	buf_release(&b);
	return hash;
}

static bool differs(enum gang_kind kind, const struct job *job, const struct gang *want, const struct group *have)
{
	const struct scheduling *s = &job->scheduling;

	if (want->members != have->min_member || !needs_eq(&want->needs, &have->needs))
		return true;
	if (kind == GANG_VOLCANO)
		return said_differs(s->queue, have->queue) || said_differs(s->priority_class, have->priority_class);
	return s->timeout >= 0 && s->timeout != have->timeout;
}

struct str plan_groups_trouble(enum gang_kind kind, int code, struct str message, struct arena *a)
{
	const struct gang_api *api = gang_api(kind);

	if (code == HTTP_NOT_FOUND)
		return arena_printf(a,
		                    "the cluster has no PodGroups of %.*s/%.*s: install %.*s, or start dl-operator "
		                    "without --gang-scheduler-name",
		                    STR_F(api->group), STR_F(api->version), STR_F(api->title));
	if (code >= HTTP_SERVER_ERROR)
		return arena_printf(a, "the PodGroups of %.*s/%.*s cannot be listed: %.*s", STR_F(api->group),
		                    STR_F(api->version), STR_F(reason_clip(message)));
	return arena_printf(a, "dl-operator may not use the PodGroups of %.*s/%.*s: %.*s", STR_F(api->group),
	                    STR_F(api->version), STR_F(reason_clip(message)));
}

/* Volcano lets a group into its queue when there is room for it; pods that come before are only in the way, and older
   versions refuse them. */
static bool waits_for_queue(const struct world *w)
{
	const struct group *g = world_group(w);

	return w->in->config->gang == GANG_VOLCANO && (!g->phase.n || str_eqc(g->phase, "Pending"));
}

/* Does a replica that counts stand so? */
static bool any_is(const struct world *w, enum verdict verdict)
{
	for (size_t r = 0; r < w->job->n_roles; r++)
		for (int32_t i = 0; i < w->job->roles[r].count && !w->job->roles[r].aux; i++)
			if (w->roles[r].replicas[i].verdict == verdict)
				return true;
	return false;
}

/* Of each role, how many are still to run. */
static const int32_t *count_left(const struct world *w)
{
	int32_t *left = arena_array(w->a, int32_t, w->job->n_roles);

	for (size_t r = 0; r < w->job->n_roles; r++)
		for (int32_t i = 0; i < w->job->roles[r].count && !w->job->roles[r].aux; i++) {
			enum verdict v = w->roles[r].replicas[i].verdict;

			left[r] += v != V_COMPLETED && v != V_GIVEN_UP;
		}
	return left;
}

/* Pods that have ended are not made again, and a scheduler that waited for them would wait for ever. That they have is
   no reason to write the group while nobody waits for a place. */
static struct gang *wanted(const struct world *w)
{
	const struct group *g = world_group(w);
	struct gang *want = arena_new(w->a, struct gang);

	*want = gang_of(w->job, count_left(w), w->a);
	if (g && (any_is(w, V_COMPLETED) || any_is(w, V_GIVEN_UP)) && !any_is(w, V_ABSENT) && !any_is(w, V_PENDING) &&
	    g->min_member >= want->members && g->min_member <= gang_of(w->job, NULL, w->a).members)
		*want = (struct gang){ g->min_member, g->needs };
	return want;
}

static bool going(const struct group *g)
{
	return g->meta.deleted != 0;
}

static void write_group(struct world *w, enum action_type type, const struct gang *want)
{
	msec until = refused_until(w, RES_GROUP, STR_NONE);
	struct action *act;

	if (type == ACT_CREATE)
		until = MAX(until, losses_until(w));
	if (w->now < until) {
		world_wake(w, until);
		return;
	}
	act = world_act(w, type, RES_GROUP);
	act->have = w->in->sole[RES_GROUP].have;
	act->want = want;
	act->wish = wish_of(w->job, want);
}

void gang_keep(struct world *w)
{
	const struct group *g = world_group(w);
	const struct gang *want;

	if (!is_on(w) || (!g && !any_is(w, V_ABSENT))) {
		refusal_group_passed(w);
		return;
	}
	w->gang_held = w->in->sole[RES_GROUP].trouble.n || !g || going(g) || waits_for_queue(w);
	if (w->in->sole[RES_GROUP].trouble.n || (g && going(g)))
		return;
	want = wanted(w);
	if (!g)
		write_group(w, ACT_CREATE, want);
	/* What the server made of it when we wrote just that is what it wants. */
	else if (differs(w->in->config->gang, w->job, want, g) &&
	         plan_group_kept(wish_of(w->job, want), g) != w->in->sole[RES_GROUP].kept)
		write_group(w, ACT_PATCH, want);
	else
		refusal_group_passed(w);
}

void gang_drop(struct world *w)
{
	const struct group *g = world_group(w);

	if (g && !going(g) && !undeleted_holds(w, RES_GROUP, &g->child))
		world_act(w, ACT_DELETE, RES_GROUP)->target = &g->meta;
}

struct str gang_line(const struct world *w)
{
	const struct group *g = world_group(w);
	struct str why, queue;

	if (w->in->sole[RES_GROUP].trouble.n)
		return arena_printf(w->a, "waiting: %.*s", STR_F(w->in->sole[RES_GROUP].trouble));
	if (!g)
		return STR("creating its PodGroup");
	if (going(g))
		return arena_printf(w->a, "waiting for PodGroup %.*s to be deleted", STR_F(g->meta.name));
	why = reason_clip(g->message);
	queue = g->queue.n ? g->queue : STR("default");
	return arena_printf(w->a, "waiting for Volcano to let PodGroup %.*s into queue %.*s (phase %.*s)%s%.*s",
	                    STR_F(g->meta.name), STR_F(queue), STR_F(g->phase.n ? g->phase : STR("not set")),
	                    why.n ? ": " : "", STR_F(why));
}
