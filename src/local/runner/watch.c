#include "local/runner/watch.h"

#include "base/log.h"
#include "local/runner/hosts.h"
#include "local/runner/kept.h"
#include "local/runner/pods.h"
#include "local/runner/units.h"

struct news {
	enum news_of of;
	enum store_change change;
	yyjson_doc *object; /* NULL: it is not one that the store has written */
};

static void wake(struct runner *r)
{
	if (!r->stepping)
		r->c.wake(r->c.cookie);
}

static void on_event(void *cookie, const struct store_event *ev)
{
	struct runner_watch *w = cookie;
	struct runner *r = w->r;

	wake(r);
	if (w->of == NEWS_CONFIG) {
		r->config_due = true;
		return;
	}
	if (w->of == NEWS_CRD) {
		r->types_due = true;
		return;
	}
	if (r->n_news == r->cap_news) {
		r->cap_news = MAX(r->cap_news * 2, (size_t)64);
		r->news = xrealloc(r->news, r->cap_news * sizeof(*r->news));
	}
	r->news[r->n_news++] = (struct news){ w->of, ev->change, store_event_take(ev) };
}

static bool start_watch(struct runner *r, struct runner_watch *w, enum news_of of, const struct store_type *t,
                        struct err *e)
{
	*w = (struct runner_watch){ .r = r, .of = of };
	w->watch = store_watch_new(r->c.store,
	                           &(struct store_watch_config){ .type = t, .event = on_event, .cookie = w }, e);
	return w->watch;
}

static void make_room(struct runner *r, const struct kinds *kinds)
{
	r->job_watches = xcalloc(MAX(kinds_count(kinds), (size_t)1), sizeof(*r->job_watches));
}

bool watch_start(struct runner *r, struct err *e)
{
	static const struct {
		enum news_of of;
		struct str group, plural;
	} all[RUNNER_WATCHES] = {
		{ NEWS_POD, STR_INIT(""), STR_INIT("pods") },
		{ NEWS_SERVICE, STR_INIT(""), STR_INIT("services") },
		{ NEWS_CONFIG, STR_INIT(""), STR_INIT("configmaps") },
		{ NEWS_CONFIG, STR_INIT(""), STR_INIT("secrets") },
		{ NEWS_NODE, STR_INIT(""), STR_INIT("nodes") },
		{ NEWS_CRD, STR_INIT("apiextensions.k8s.io"), STR_INIT("customresourcedefinitions") },
	};

	for (size_t i = 0; i < RUNNER_WATCHES; i++) {
		const struct store_type *t = store_type(r->c.store, all[i].group, STR("v1"), all[i].plural);

		ASSERT(t);
		if (!start_watch(r, &r->watches[i], all[i].of, t, e))
			return false;
	}
	make_room(r, r->c.kinds);
	watch_jobs(r);
	return true;
}

void watch_jobs(struct runner *r)
{
	struct err e = ERR_INIT;

	for (size_t i = 0; i < kinds_count(r->c.kinds); i++) {
		const struct kind *k = kinds_at(r->c.kinds, i);
		const struct store_type *t = store_type(r->c.store, k->group, k->version, k->plural);

		if (t && !r->job_watches[i].watch && !start_watch(r, &r->job_watches[i], NEWS_JOB, t, &e)) {
			log_warn(FIELDS(F_STR("kind", k->id)), "its jobs cannot be watched: %s", err_msg(&e));
			err_release(&e);
		}
	}
	r->types_due = false;
}

static void stop_watching_jobs(struct runner *r)
{
	for (size_t i = 0; r->job_watches && i < kinds_count(r->c.kinds); i++)
		if (r->job_watches[i].watch)
			store_watch_free(r->job_watches[i].watch);
	free(r->job_watches);
}

void watch_set_kinds(struct runner *r, const struct kinds *kinds)
{
	stop_watching_jobs(r);
	make_room(r, kinds);
}

void watch_stop(struct runner *r)
{
	for (size_t i = 0; i < RUNNER_WATCHES; i++)
		if (r->watches[i].watch)
			store_watch_free(r->watches[i].watch);
	stop_watching_jobs(r);
	for (size_t i = 0; i < r->n_news; i++)
		yyjson_doc_free(r->news[i].object);
	free(r->news);
}

/* `kubectl cordon` and `uncordon`. */
static void take_node(struct runner *r, yyjson_val *node, enum store_change change)
{
	bool cordoned = change != STORE_DELETED && yyjson_is_true(json_at(node, "spec", "unschedulable", NULL));

	if (!str_eq(json_str(json_at(node, "metadata", "name", NULL)), r->node) || cordoned == r->cordoned)
		return;
	r->cordoned = cordoned;
	r->fit_due = true;
}

void watch_take(struct runner *r)
{
	/* What is asked meanwhile may add to it. */
	for (size_t i = 0; i < r->n_news; i++) {
		struct news n = r->news[i];
		yyjson_doc *doc = n.object;

		if (!doc)
			continue;
		switch (n.of) {
		case NEWS_POD:
			pods_take(r, doc, n.change);
			break;
		case NEWS_SERVICE:
			hosts_take_service(r, doc, n.change);
			break;
		case NEWS_JOB:
			kept_take_job(r, yyjson_doc_get_root(doc), n.change);
			units_take_job(r, doc, n.change);
			break;
		case NEWS_NODE:
			take_node(r, yyjson_doc_get_root(doc), n.change);
			yyjson_doc_free(doc);
			break;
		case NEWS_CONFIG:
		case NEWS_CRD:
			BUG("no news");
		}
	}
	r->n_news = 0;
}
