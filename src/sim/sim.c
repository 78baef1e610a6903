#include "sim/faults.h"
#include "sim/groups.h"
#include "sim/kubelet.h"
#include "sim/load.h"
#include "sim/nodes.h"
#include "sim/server.h"
#include "sim/settle.h"
#include "sim/sim.h"
#include "sim/sizes.h"
#include "sim/users.h"

#include <stdarg.h>

static const msec epoch = SECONDS(1800000000);
/* After the faults stop everything must come to rest within this. */
static const msec quiet_time = MINUTES(240);
enum { QUIET_STEPS = 200000 };

static const char *const invariant_names[] = {
	[INV_NONE] = "none",
	[INV_TWO_PODS] = "one-pod-per-replica",
	[INV_LIMIT] = "restart-limit",
	[INV_COMPLETED] = "completed-stays-completed",
	[INV_FINAL] = "final-stays-final",
	[INV_GENERATION] = "generations-grow",
	[INV_COUNT] = "restarts-counted-once",
	[INV_FOREIGN] = "foreign-untouched",
	[INV_UID] = "deletes-carry-uid",
	[INV_INVALID] = "invalid-has-no-children",
	[INV_CLEANED] = "nothing-after-the-end",
	[INV_BODY] = "children-well-formed",
	[INV_RECORD_FIRST] = "record-first",
	[INV_SIBLING] = "old-generation-goes",
	[INV_GANG] = "gang-first",
	[INV_REFUSED] = "refusals-pass",
	[INV_UNCREATED] = "uncreatable-never-ran",
	[INV_HASTENED] = "uncreatable-for-long",
	[INV_EARLY] = "ends-when-gone",
	[INV_LEFT] = "left-is-forgotten",
	[INV_DEADLINE] = "deadlines-are-kept",
	[INV_FLIGHT] = "requests-in-flight",
	[INV_UNKNOWN] = "unread-is-not-gone",
	[INV_STARVED] = "others-come-back",
	[INV_STUCK] = "every-job-settles",
	[INV_QUIET] = "writes-stop",
	[INV_ORPHAN] = "no-orphans",
	[INV_ORACLE] = "expected-end",
	[INV_WORK] = "bounded-work",
	[INV_TRUTH] = "completions-are-true",
	[INV_DELETING] = "nothing-while-deleting",
};

const char *invariant_name(enum invariant i)
{
	return invariant_names[i];
}

static msec sim_now(void *cookie)
{
	return ((struct sim *)cookie)->now;
}

/* Memory of JSON documents: the run's, so that nothing needs to be freed. */

static void *alc_malloc(void *ctx, size_t size)
{
	return arena_raw(ctx, size);
}

static void *alc_realloc(void *ctx, void *ptr, size_t old, size_t size)
{
	void *p = arena_raw(ctx, size);

	memcpy(p, ptr, MIN(old, size));
	return p;
}

static void alc_free(void *ctx, void *ptr)
{
	(void)ctx;
	(void)ptr;
}

const yyjson_alc *sim_alc(struct sim *s)
{
	static _Thread_local yyjson_alc alc;

	alc = (yyjson_alc){ alc_malloc, alc_realloc, alc_free, s->arena };
	return &alc;
}

/* Events */

struct sim_event *sim_at(struct sim *s, msec at, enum event_type type, void *what)
{
	struct sim_event *ev = arena_new(s->arena, struct sim_event);

	ev->type = type;
	ev->what = what;
	heap_put(&s->events, &ev->node, MAX(at, s->now));
	return ev;
}

void sim_move(struct sim *s, struct sim_event *ev, msec at)
{
	heap_put(&s->events, &ev->node, MAX(at, s->now));
}

void sim_cancel(struct sim *s, struct sim_event *ev)
{
	if (ev)
		heap_remove(&s->events, &ev->node);
}

bool sim_chance(struct sim *s, uint64_t n)
{
	return rng_one_in(&s->rng, n) && !s->quiet;
}

msec sim_between(struct sim *s, msec from, msec to)
{
	return rng_between(&s->rng, from, to);
}

/* Reports */

void sim_trace_line(struct sim *s, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(s->opt.trace_to, "%7zu %9.3fs %s\n", s->step, (double)(s->now - epoch) / 1000, text);
}

void sim_broken(struct sim *s, enum invariant which, const char *fmt, ...)
{
	va_list ap;

	if (s->broken)
		return;
	s->broken = which;
	va_start(ap, fmt);
	vsnprintf(s->why, sizeof(s->why), fmt, ap);
	va_end(ap);
	TRACE(s, "BROKEN %s: %s", invariant_name(which), s->why);
}

/* The run */

static void start_operator(struct sim *s)
{
	ASSERT(!s->link);
	s->link = link_new(s, s->former ? 1 - s->former->slot : 0);
	for (struct sim_job *j = s->all_jobs; j; j = j->next)
		j->known[s->link->slot] = j->group_known[s->link->slot] = NULL;
	TRACE(s, "operator starts");
}

static void dispatch(struct sim *s, struct sim_event *ev)
{
	switch (ev->type) {
	case EV_ARRIVE:
		wire_arrive(s, ev->what);
		break;
	case EV_REPLY:
		wire_reply(s, ev->what);
		break;
	case EV_WATCH:
		stream_watch(s, ev->what);
		break;
	case EV_LIST:
		stream_list(s, ev->what);
		break;
	case EV_OPERATOR:
		link_wake(s, ev->what);
		break;
	case EV_DEPOSE:
		link_depose(s);
		break;
	case EV_START:
		s->start = NULL;
		start_operator(s);
		break;
	case EV_POD:
		kubelet_timer(s, ev->what);
		break;
	case EV_NODE:
		nodes_timer(s, ev->what);
		break;
	case EV_TAINTS:
		nodes_taints(s, ev->what);
		break;
	case EV_GROUP:
		groups_timer(s, ev->what);
		break;
	case EV_USERS:
		users_act(s);
		break;
	case EV_FAULTS:
		faults_act(s);
		break;
	case EV_STORM:
		load_storm(s);
		break;
	case EV_COLLECT:
		server_collect(s, ev->what);
		break;
	case EV_COUNT:
		BUG("no event");
	}
}

static bool step_event(struct sim *s)
{
	struct heap_node *node = heap_first(&s->events);
	struct sim_event *ev;

	if (!node)
		return false;
	ev = heap_entry(node, struct sim_event, node);
	heap_remove(&s->events, node);
	s->now = MAX(s->now, node->key);
	s->step++;
	dispatch(s, ev);
	return true;
}

static void calm_down(struct sim *s)
{
	TRACE(s, "faults stop");
	s->quiet = true;
	sim_cancel(s, s->users);
	sim_cancel(s, s->faults);
	s->quota_until = s->webhook_until = s->denied = 0;
	link_depose(s);
	nodes_heal(s);
	users_leave(s);
	sizes_leave(s);
	faults_stay(s);
	if (!s->link && !s->start)
		s->start = sim_at(s, s->now + SECONDS(1), EV_START, NULL);
}

static void rest(struct sim *s)
{
	msec until = s->now + quiet_time;
	size_t last = s->step + QUIET_STEPS;
	struct heap_node *node;

	while (!s->broken && (node = heap_first(&s->events)) && node->key <= until && s->step < last)
		step_event(s);
	if (s->broken)
		return;
	if (s->step >= last) {
		sim_broken(s, INV_QUIET, "the cluster does not come to rest");
		return;
	}
	s->now = until;
	settle_check(s);
}

bool sim_run(struct sim *s, struct kinds *kinds, const struct sim_options *opt, struct sim_tally *tally,
             struct arena *memory)
{
	arena_reset(memory);
	*s = (struct sim){ .opt = *opt, .kinds = kinds, .tally = tally, .now = epoch, .arena = memory };
	s->rng = rng_seed(opt->seed);
	s->clock = (struct clock){ sim_now, s };
	/* Every fourth run has Volcano, every fourth scheduler-plugins. */
	s->gang = opt->seed % 4 == 1 ? GANG_VOLCANO : opt->seed % 4 == 3 ? GANG_PLUGINS : GANG_NONE;
	kinds_set_gang(kinds, s->gang == GANG_VOLCANO ? STR("volcano") : s->gang ? STR("sched") : STR(""));
	s->busy = load_is_busy(s);
	nodes_start(s);
	start_operator(s);
	s->users = sim_at(s, s->now, EV_USERS, NULL);
	s->faults = sim_at(s, s->now + SECONDS(5), EV_FAULTS, NULL);
	while (!s->broken && s->step < opt->steps && step_event(s))
		;
	if (!s->broken) {
		calm_down(s);
		rest(s);
	}
	tally->steps += s->step;
	tally->seeds++;
	return !s->broken;
}

void sim_release(struct sim *s)
{
	if (s->link)
		operator_free(s->link->op);
	if (s->former)
		operator_free(s->former->op);
	for (size_t i = 0; i < s->specs.n; i++)
		kind_job_free(s->specs.v[i].read);
	heap_release(&s->events);
	map_release(&s->jobs_by_name);
	map_release(&s->jobs_by_uid);
	map_release(&s->pods);
	map_release(&s->services);
	map_release(&s->groups);
	map_release(&s->tries);
}
