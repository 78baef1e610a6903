/* Kinds and accelerators that change while the operator runs. What it must remember is in the cluster, so it begins
   anew with them as it would in another process; only the lease is kept. */
#include "base/log.h"
#include "program/kinds.h"
#include "program/program.h"

/* Files are seldom changed alone. */
static const msec settle = 500, reload_within = SECONDS(10);

static void on_change(void *cookie)
{
	struct program *p = cookie;

	p->look_at = loop_now(p->loop) + settle;
	program_wake(p);
}

bool program_watch_files(struct program *p, struct err *e)
{
	const struct opt_list *dirs = &p->flags->kinds_dirs;

	p->look_at = NEVER;
	p->kinds_hash = operator_kinds_hash(p->flags);
	p->watches = xcalloc(dirs->n + 1, sizeof(struct loop_watch *));
	for (size_t i = 0; i < dirs->n; i++) {
		p->watches[i] = loop_watch_new(p->loop, dirs->v[i], on_change, p, e);
		if (!p->watches[i])
			return err_wrap(e, "--kinds-dir");
	}
	return program_open_accelerators(p, on_change, e);
}

void program_unwatch_files(struct program *p)
{
	for (size_t i = 0; p->watches && p->watches[i]; i++)
		loop_watch_free(p->watches[i]);
	loop_watch_free(p->config_watch);
	free(p->watches);
}

/* What is in flight is awaited, then it begins anew. */
static msec begin_anew(struct program *p, const char *why)
{
	struct err e = ERR_INIT;

	p->next_kinds = operator_kinds_load(p->flags, NULL, NULL, &e);
	if (!p->next_kinds) {
		if (program_news(p, err_msg(&e)))
			log_error(NO_FIELDS, "the kinds are unchanged: %s", err_msg(&e));
		err_release(&e);
		return p->went_back ? SECONDS(1) : NEVER;
	}
	log_info(NO_FIELDS, "%s", why);
	p->state = PROGRAM_RELOADING;
	p->deadline = loop_now(p->loop) + reload_within;
	return 0;
}

msec program_look_at_files(struct program *p)
{
	msec now = loop_now(p->loop);
	const char *why = NULL;
	uint64_t hash;

	if (p->went_back)
		return begin_anew(p, "etcd was restored from an older backup: listing everything again");
	if (now < p->look_at)
		return p->look_at == NEVER ? NEVER : p->look_at - now;
	p->look_at = NEVER;
	if (program_accelerators_changed(p))
		why = "the accelerators have changed";
	hash = operator_kinds_hash(p->flags);
	if (hash != p->kinds_hash)
		why = "the kinds have changed";
	p->kinds_hash = hash;
	return why ? begin_anew(p, why) : NEVER;
}

msec program_reload(struct program *p)
{
	msec now = loop_now(p->loop);
	struct err e = ERR_INIT;

	operator_listen(p->op);
	if (operator_stats(p->op).in_flight && now < p->deadline)
		return p->deadline - now;
	operator_free(p->op);
	p->op = NULL;
	kube_free(p->kube);
	program_calls_drop(p);
	events_free(p->events);
	p->events = NULL;
	program_close_crds(p, true);
	kinds_free(p->served);
	kinds_free(p->kinds);
	program_swap_accelerators(p);
	p->served = NULL;
	p->kinds = p->next_kinds;
	p->next_kinds = NULL;
	p->kube = kube_new(p->loop, &p->config, &p->options, &e);
	if (!p->kube)
		BUG("what could be opened once: %s", err_msg(&e));
	program_open_crds(p);
	p->reloaded = true;
	p->went_back = false;
	p->state = PROGRAM_STARTING;
	return 0;
}
