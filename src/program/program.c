#include "program/program.h"

#include "base/log.h"
#include "program/kinds.h"
#include "program/process.h"
#include "term/plain.h"

#include <signal.h>
#include <unistd.h>

static const msec end_within = SECONDS(10), release_within = SECONDS(3), trouble_again = MINUTES(1);

void program_wake(struct program *p)
{
	if (p->timer)
		loop_timer_set(p->timer, 0);
}

static void on_wake(void *cookie)
{
	program_wake(cookie);
}

bool program_news(struct program *p, const char *trouble)
{
	uint64_t hash = str_hash(str_c(trouble));
	size_t i = hash % ARRAY_LEN(p->said);
	msec now = loop_now(p->loop);

	if (p->said[i].hash == hash && now < p->said[i].at + trouble_again)
		return false;
	p->said[i].hash = hash;
	p->said[i].at = now;
	return true;
}

/* False: it is none of those that are said once, for as long as it is so. */
static bool tell_of_list(struct program *p, enum resource resource, struct str kind, int code, struct str message)
{
	struct buf line = BUF_INIT(8192);
	enum trouble_heard heard = operator_trouble(p->op, resource, kind, code, message, &line);

	if (heard == TROUBLE_NEWS) {
		log_warn(FIELDS(F_STR("kind", kind), F_INT("code", code)), "%.*s", STR_F(buf_str(&line)));
		program_wake(p);
	}
	buf_release(&line);
	return heard != TROUBLE_OTHER;
}

static void on_trouble(void *cookie, enum resource resource, struct str kind, bool list, int code, struct str message)
{
	struct program *p = cookie;
	char text[512];

	/* Before there is an operator it is too early to tell: it comes again. */
	if (list && (p->op ? tell_of_list(p, resource, kind, code, message) : resource_traits(resource)->optional))
		return;
	snprintf(text, sizeof(text), "%s %.*s %d", resource_plural(resource), STR_F(kind), code);
	if (!program_news(p, text))
		return;
	log_warn(FIELDS(F_STR("resource", str_c(resource_plural(resource))), F_STR("kind", kind), F_INT("code", code)),
	         "cannot be watched: %.*s", STR_F(message));
}

static void on_asked(void *cookie, bool watch, int code, msec took)
{
	struct program *p = cookie;

	metrics_feed(p->metrics, watch, code, took);
}

static void on_back(void *cookie)
{
	struct program *p = cookie;

	p->went_back = true;
	program_wake(p);
}

static void on_certs(void *cookie, const char *problem)
{
	if (!problem)
		log_info(NO_FIELDS, "certificate files have changed: new connections use them");
	else if (program_news(cookie, problem))
		log_warn(NO_FIELDS, "the certificates are unchanged: %s", problem);
}

static void log_answer(const struct observer_sight *s)
{
	static const char *const verbs[] = {
		[VERB_GET] = "get",     [VERB_CREATE] = "create",       [VERB_DELETE] = "delete",
		[VERB_PATCH] = "patch", [VERB_PATCH_STATUS] = "status",
	};
	bool bad = s->verb == VERB_CREATE && s->code >= HTTP_BAD_REQUEST && s->code != HTTP_CONFLICT;
	struct log_field fields[SIGHT_FIELDS];

	log_write(bad ? LOG_WARN : LOG_DEBUG, fields, sight_fields(s, fields), "%s%s%.*s", verbs[s->verb],
	          bad ? ": " : "", STR_F(bad ? s->message : STR_NONE));
}

static void log_record(const struct observer_sight *s)
{
	struct log_field fields[SIGHT_FIELDS];

	if (s->before->phase != s->after->phase)
		log_info(fields, sight_fields(s, fields), "%.*s", STR_F(s->record->reason));
}

static void on_sight(void *cookie, const struct observer_sight *s)
{
	struct program *p = cookie;

	metrics_see(p->metrics, s);
	events_see(p->events, s, loop_now(p->loop), clock_now(&clock_wall));
	if (s->type == SIGHT_ANSWER)
		log_answer(s);
	else if (s->type == SIGHT_RECORD)
		log_record(s);
}

static void fail(struct program *p, const char *why)
{
	log_error(NO_FIELDS, "%s", why);
	p->status = 1;
	loop_stop(p->loop);
}

static struct operator_config operator_settings(struct program *p)
{
	const struct operator_flags *f = p->flags;
	struct operator_config c = operator_config_default;

	c.plan = plan_config_default;
	c.plan.node_grace = f->node_grace;
	c.plan.force_delete_after = f->force_delete_after;
	c.plan.creating_restart_period = f->creating_restart;
	c.plan.creating_duration = f->creating_duration;
	c.plan.creating_failed = f->creating_failed;
	c.plan.gang = gang_kind_of(str_c(f->gang_scheduler));
	c.nodes = str_empty(str_c(f->ns));
	c.requests_max = operator_flags_requests(f);
	c.creates_max = c.requests_max;
	c.observer = (struct observer){ on_sight, p };
	return c;
}

/* The CRDs are done: what can be served is. */
static void serve(struct program *p)
{
	struct operator_config config = operator_settings(p);
	struct err e = ERR_INIT;
	struct kube_kind *kinds;

	p->served = operator_kinds_load(p->flags, program_serves, p, &e);
	if (!p->served || !kinds_count(p->served)) {
		fail(p, p->served ? "no kind can be served" : err_msg(&e));
		err_release(&e);
		return;
	}
	kinds_set_accelerators(p->served, p->accelerators);
	kinds_set_gang(p->served, str_c(p->flags->gang_scheduler));
	kinds_set_sizes(p->served, &(struct kind_sizes){ p->flags->max_pod_size, p->flags->max_job_size });
	kinds = arena_array(&p->arena, struct kube_kind, kinds_count(p->served));
	for (size_t i = 0; i < kinds_count(p->served); i++) {
		const struct kind *k = kinds_at(p->served, i);

		kinds[i] = (struct kube_kind){ k->id, { k->group, k->version, k->plural, true } };
	}
	kube_set_kinds(p->kube, kinds, kinds_count(p->served));
	p->events = events_new(p->served, p->identity);
	p->op = operator_new(kube_cluster(p->kube), p->served, &clock_wall, &config);
	p->state = PROGRAM_SERVING;
	log_info(FIELDS(F_INT("kinds", (int64_t)kinds_count(p->served)),
	                F_STR("namespace", p->flags->ns ? str_c(p->flags->ns) : STR("")),
	                F_STR("server", p->config.server.url)),
	         "dl-operator %s is serving", DL_VERSION);
}

/* When to come back; NEVER: an answer will wake us. */
static msec step_start(struct program *p)
{
	msec next;

	if (!program_step_crds(p, &next))
		return next;
	if (p->only_crds)
		loop_stop(p->loop);
	else
		serve(p);
	return p->state == PROGRAM_STARTING ? next : 0;
}

static void log_leadership(struct program *p)
{
	bool leads = program_leads(p);

	if (leads == p->led)
		return;
	p->led = leads;
	log_info(FIELDS(F_STR("holder", lease_holder(p->lease))), leads ? "is the leader" : "is no longer the leader");
}

static msec step_lease(struct program *p)
{
	msec now = loop_now(p->loop), until;
	struct lease_wish w;

	if (!p->lease)
		return NEVER;
	log_leadership(p);
	w = lease_next(p->lease, now, clock_now(&clock_wall));
	until = lease_leads_until(p->lease);
	switch (w.type) {
	case LEASE_SEND:
		program_call_lease(p, &w.call);
		break;
	case LEASE_SLEEP:
		return MAX(MIN(w.at, until > now ? until : NEVER) - now, 0);
	case LEASE_BUSY:
	case LEASE_DONE:
		break;
	}
	return until > now ? until - now : NEVER;
}

static msec step_operator(struct program *p)
{
	msec at, now;

	if (!program_leads(p)) {
		operator_listen(p->op);
		return NEVER;
	}
	at = operator_step(p->op);
	now = clock_now(&clock_wall);
	return at == NEVER ? NEVER : MAX(at - now, 0);
}

static msec step_events(struct program *p)
{
	msec now = loop_now(p->loop), at;
	struct api_call call;
	uint64_t id;

	/* What a former leader has to say can wait until it leads again. */
	if (!program_leads(p))
		return NEVER;
	while (events_next(p->events, now, &call, &id, &at))
		program_call_event(p, id, &call);
	return at == NEVER ? NEVER : MAX(at - now, 0);
}

/* Nothing new; what is in flight is awaited, then the lease is given away. */
static msec step_end(struct program *p)
{
	msec now = loop_now(p->loop);
	struct lease_wish w = { .type = LEASE_DONE };

	if (p->state == PROGRAM_ENDING) {
		if (p->op)
			operator_listen(p->op);
		if (p->op && operator_stats(p->op).in_flight && now < p->deadline)
			return MIN(p->deadline - now, step_lease(p));
		if (p->lease)
			lease_release(p->lease);
		program_undo_crds(p);
		p->state = PROGRAM_RELEASING;
		p->deadline = now + release_within;
	}
	if (p->lease)
		w = lease_next(p->lease, now, clock_now(&clock_wall));
	if (w.type == LEASE_SEND)
		program_call_lease(p, &w.call);
	if ((w.type == LEASE_DONE && !p->undoing) || now >= p->deadline) {
		loop_stop(p->loop);
		return NEVER;
	}
	return p->deadline - now;
}

static void step_program(void *cookie)
{
	struct program *p = cookie;
	msec next = NEVER;

	switch (p->state) {
	case PROGRAM_STARTING:
		if (program_held(p, &next))
			break;
		/* Whoever leads already goes on to. */
		next = p->reloaded ? step_lease(p) : NEVER;
		next = MIN(next, step_start(p));
		break;
	case PROGRAM_SERVING:
		next = step_lease(p);
		next = MIN(next, step_operator(p));
		next = MIN(next, step_events(p));
		next = MIN(next, program_look_at_files(p));
		break;
	case PROGRAM_RELOADING:
		next = step_lease(p);
		next = MIN(next, program_reload(p));
		break;
	case PROGRAM_ENDING:
	case PROGRAM_RELEASING:
		next = step_end(p);
		break;
	}
	if (next != NEVER)
		loop_timer_set(p->timer, next);
}

static void on_end_signal(void *cookie, int signum)
{
	struct program *p = cookie;

	if (p->state == PROGRAM_ENDING || p->state == PROGRAM_RELEASING)
		_exit(128 + signum);
	log_info(FIELDS(F_STR("signal", str_c(signum == SIGTERM ? "SIGTERM" : "SIGINT"))), "shutting down");
	p->state = PROGRAM_ENDING;
	p->deadline = loop_now(p->loop) + end_within;
	program_wake(p);
}

static const char *program_env(void *cookie, const char *name)
{
	(void)cookie;
	return getenv(name);
}

static struct kube_resource groups_of(struct str scheduler)
{
	const struct gang_api *api = gang_api(gang_kind_of(scheduler));

	return (struct kube_resource){ api->group, api->version, api->plural, true };
}

static bool connect_to(struct program *p, struct str identity, struct err *e)
{
	const struct operator_flags *f = p->flags;
	struct kube_config_args args = { .master = str_c(f->master),
		                         .kubeconfig = str_c(f->kubeconfig),
		                         .context = str_c(f->context),
		                         .in_cluster = f->in_cluster,
		                         .env = program_env };
	double burst = f->burst ? f->burst : MAX(f->qps, 1.0);

	if (!kube_config_load(&p->config, &args, &p->arena, e))
		return false;
	p->options = (struct kube_options){ .ns = str_c(f->ns),
		                            .nodes = str_empty(str_c(f->ns)),
		                            /* There is nothing to watch, and perhaps no right to. */
		                            .calls_only = p->only_crds,
		                            .connections = (size_t)f->concurrency,
		                            .qps = f->qps,
		                            .burst = (size_t)burst,
		                            .request_timeout = operator_flags_timeout(f),
		                            .seed = process_seed(),
		                            .wake = on_wake,
		                            .trouble = on_trouble,
		                            .asked = on_asked,
		                            .back = on_back,
		                            .certs = on_certs,
		                            .cookie = p };
	if (!str_empty(str_c(f->gang_scheduler)))
		p->options.optional[RES_GROUP] = groups_of(str_c(f->gang_scheduler));
	p->options.user_agent = arena_printf(&p->arena, "dl-operator/%s (%.*s)", DL_VERSION, STR_F(identity));
	p->kube = kube_new(p->loop, &p->config, &p->options, e);
	return p->kube != NULL;
}

static void open_lease(struct program *p, struct str identity)
{
	const struct operator_flags *f = p->flags;
	const char *candidates[] = { f->lease_ns, getenv("MY_POD_NAMESPACE"), getenv("KUBEFLOW_NAMESPACE"),
		                     str_text(arena_str(&p->arena, p->config.ns)), "default" };
	struct lease_config c = { .name = str_c(f->lease_name),
		                  .identity = identity,
		                  .duration = f->lease_duration,
		                  .renew_deadline = f->renew_deadline,
		                  .retry_period = f->retry_period };

	for (size_t i = 0; str_empty(c.ns); i++)
		c.ns = str_c(candidates[i]);
	if (f->leader_elect && !p->only_crds)
		p->lease = lease_new(&c);
}

/* What a wrong flag or file can spoil. */
static bool open_all(struct program *p, struct err *e)
{
	char *identity = arena_alloc(&p->arena, 512);
	struct str who = str_c(process_identity(identity, 512));

	p->identity = who;
	p->kinds = operator_kinds_load(p->flags, NULL, NULL, e);
	if (!p->kinds || !connect_to(p, who, e))
		return false;
	if (!p->only_crds && (!program_web_open(p, e) || !program_watch_files(p, e)))
		return false;
	open_lease(p, who);
	program_open_crds(p);
	p->timer = loop_timer_new(p->loop, step_program, p);
	p->signals[0] = loop_signal_new(p->loop, SIGTERM, on_end_signal, p);
	p->signals[1] = loop_signal_new(p->loop, SIGINT, on_end_signal, p);
	return true;
}

static void close_all(struct program *p)
{
	operator_free(p->op);
	kube_free(p->kube);
	events_free(p->events);
	program_calls_drop(p);
	program_web_close(p);
	for (size_t i = 0; i < ARRAY_LEN(p->signals); i++)
		if (p->signals[i])
			loop_signal_free(p->signals[i]);
	if (p->timer)
		loop_timer_free(p->timer);
	program_unwatch_files(p);
	program_close_crds(p, false);
	for (size_t i = 0; i < p->n_made; i++)
		crd_free(p->made[i]);
	free(p->made);
	lease_free(p->lease);
	metrics_free(p->metrics);
	kinds_freep(&p->served);
	kinds_freep(&p->next_kinds);
	kinds_freep(&p->kinds);
	program_close_accelerators(p);
	loop_free(p->loop);
	arena_release(&p->arena);
}

int program_run(const struct operator_flags *f, bool only_crds)
{
	struct program p = { .flags = f, .only_crds = only_crds, .loop = loop_new(), .metrics = metrics_new() };
	struct err e = ERR_INIT;
	int status;

	if (open_all(&p, &e)) {
		if (!only_crds && f->ns && *f->ns)
			log_warn(FIELDS(F_STR("namespace", str_c(f->ns))),
			         "serving one namespace: node failures are not detected, CRDs are not managed");
		program_wake(&p);
		loop_run(p.loop);
	} else {
		plain_printf(stderr, "dl-operator: %s\n", err_msg(&e));
		p.status = 2;
	}
	status = p.status;
	close_all(&p);
	err_release(&e);
	return status;
}
