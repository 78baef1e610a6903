#include "operator/metrics.h"

enum {
	CODES_MAX = 64, /* pairs of verb and code that are told apart */
	KINDS_MAX = 64,
	BUCKETS_MAX = 16,
};

/* Upper bounds in milliseconds; 0 ends them. */
static const msec quick[BUCKETS_MAX] = { 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000 };
static const msec slow[BUCKETS_MAX] = {
	1000, 2000, 5000, 10000, 30000, 60000, 120000, 300000, 600000, 1800000, 3600000
};

struct histogram {
	const msec *bounds;
	uint64_t in[BUCKETS_MAX + 1]; /* not cumulative; the last one: beyond all bounds */
	uint64_t n;
	int64_t sum;
};

/* Those of enum verb, and the two that only feeds send. */
enum { LISTS = VERB_PATCH_STATUS + 1, WATCHES, VERBS };

struct requests_counter {
	int verb;
	int code;
	uint64_t n;
};

/* Of one kind. */
struct kind_numbers {
	char *kind; /* its id */
	uint64_t success, error, later;
	uint64_t restarts[CAUSE_COUNT], ran[CAUSE_COUNT], ended[PHASE_COUNT];
	struct histogram reconcile, start;
};

struct metrics {
	struct kind_numbers kinds[KINDS_MAX];
	size_t n_kinds;
	struct requests_counter requests[CODES_MAX];
	size_t n_requests;
	struct histogram latency[VERBS];
};

static const char *const methods[VERBS] = {
	[VERB_GET] = "GET",     [VERB_CREATE] = "POST",        [VERB_DELETE] = "DELETE",
	[VERB_PATCH] = "PATCH", [VERB_PATCH_STATUS] = "PATCH", [LISTS] = "LIST",
	[WATCHES] = "WATCH",
};

struct metrics *metrics_new(void)
{
	struct metrics *m = xcalloc(1, sizeof(*m));

	for (int v = 0; v < VERBS; v++)
		m->latency[v].bounds = quick;
	return m;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_kinds; i++)
		free(m->kinds[i].kind);
	free(m);
}

static void histogram_add(struct histogram *h, msec value)
{
	size_t i = 0;

	while (i < BUCKETS_MAX && h->bounds[i] && value > h->bounds[i])
		i++;
	if (i < BUCKETS_MAX && !h->bounds[i])
		i = BUCKETS_MAX;
	h->in[i]++;
	h->n++;
	h->sum += value;
}

/* Its numbers; NULL if there are too many kinds. */
static struct kind_numbers *numbers_of(struct metrics *m, struct str kind)
{
	struct kind_numbers *k;

	for (size_t i = 0; i < m->n_kinds; i++)
		if (str_eqc(kind, m->kinds[i].kind))
			return &m->kinds[i];
	if (m->n_kinds == KINDS_MAX)
		return NULL;
	k = &m->kinds[m->n_kinds++];
	k->kind = xstrndup(str_text(kind), kind.n);
	k->reconcile.bounds = quick;
	k->start.bounds = slow;
	return k;
}

static void count_request(struct metrics *m, int verb, int code, msec took)
{
	size_t i = 0;

	histogram_add(&m->latency[verb], took);
	while (i < m->n_requests &&
	       (strcmp(methods[m->requests[i].verb], methods[verb]) != 0 || m->requests[i].code != code))
		i++;
	if (i == CODES_MAX)
		return;
	if (i == m->n_requests)
		m->requests[m->n_requests++] = (struct requests_counter){ verb, code, 0 };
	m->requests[i].n++;
}

void metrics_call(struct metrics *m, enum verb verb, int code, msec took)
{
	count_request(m, (int)verb, code, took);
}

void metrics_feed(struct metrics *m, bool watch, int code, msec took)
{
	count_request(m, watch ? WATCHES : LISTS, code, took);
}

static void see_record(struct kind_numbers *k, const struct observer_sight *s)
{
	const struct restart_note *note;

	for (int c = 0; c < CAUSE_COUNT; c++)
		if (s->after->restarts[c] > s->before->restarts[c])
			k->restarts[c] += (uint64_t)(s->after->restarts[c] - s->before->restarts[c]);
	for (size_t i = 0; s->record && (note = record_restart(s->record, i)) && note->at > s->before->restarted; i++)
		k->ran[note->cause] += (uint64_t)note->ran;
	if (!s->before->running && s->after->running && s->job->created)
		histogram_add(&k->start, MAX(s->after->running - s->job->created, 0));
	if (!phase_final(s->before->outcome) && phase_final(s->after->outcome))
		k->ended[s->after->outcome]++;
}

void metrics_see(struct metrics *m, const struct observer_sight *s)
{
	struct kind_numbers *k = numbers_of(m, s->kind);

	switch (s->type) {
	case SIGHT_PASS:
		if (!k)
			break;
		*(s->failed ? &k->error : s->later ? &k->later : &k->success) += 1;
		histogram_add(&k->reconcile, s->took);
		break;
	case SIGHT_ANSWER:
		metrics_call(m, s->verb, s->code, s->took);
		break;
	case SIGHT_RECORD:
		if (k)
			see_record(k, s);
		break;
	case SIGHT_LEFT:
	case SIGHT_TAKEN:
	case SIGHT_STATUS:
	case SIGHT_ODD:
	case SIGHT_SPARED:
	case SIGHT_UNREAD:
		break;
	}
}

static void family(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct buf *out, const char *name, const char *type, const char *help, double value)
{
	family(out, name, type, help);
	buf_printf(out, "%s %.15g\n", name, value);
}

/* LABELS: as in a="b", without the braces; may be empty. */
static void put_histogram(struct buf *out, const char *name, const char *labels, const struct histogram *h)
{
	const char *comma = *labels ? "," : "";
	uint64_t sum = 0;

	for (size_t i = 0; i < BUCKETS_MAX && h->bounds[i]; i++) {
		sum += h->in[i];
		buf_printf(out, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, labels, comma, (double)h->bounds[i] / 1000,
		           (unsigned long long)sum);
	}
	buf_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, comma, (unsigned long long)h->n);
	buf_printf(out, "%s_sum{%s} %.3f\n", name, labels, (double)h->sum / 1000);
	buf_printf(out, "%s_count{%s} %llu\n", name, labels, (unsigned long long)h->n);
}

static void put_reconciles(const struct metrics *m, struct buf *out)
{
	const char *name = "controller_runtime_reconcile_total";

	family(out, name, "counter", "Passes over jobs, by kind and result.");
	for (size_t i = 0; i < m->n_kinds; i++) {
		const struct kind_numbers *k = &m->kinds[i];
		const struct {
			const char *result;
			uint64_t n;
		} results[] = { { "success", k->success }, { "error", k->error }, { "requeue_after", k->later } };

		for (size_t r = 0; r < ARRAY_LEN(results); r++)
			buf_printf(out, "%s{controller=\"%s\",result=\"%s\"} %llu\n", name, k->kind, results[r].result,
			           (unsigned long long)results[r].n);
	}
	name = "controller_runtime_reconcile_errors_total";
	family(out, name, "counter", "Passes over jobs that are retried.");
	for (size_t i = 0; i < m->n_kinds; i++)
		buf_printf(out, "%s{controller=\"%s\"} %llu\n", name, m->kinds[i].kind,
		           (unsigned long long)m->kinds[i].error);
	name = "controller_runtime_reconcile_time_seconds";
	family(out, name, "histogram", "From the start of a pass until everything it sent was answered.");
	for (size_t i = 0; i < m->n_kinds; i++) {
		char labels[256];

		snprintf(labels, sizeof(labels), "controller=\"%s\"", m->kinds[i].kind);
		put_histogram(out, name, labels, &m->kinds[i].reconcile);
	}
}

static void put_requests(const struct metrics *m, struct buf *out)
{
	static const char *const verbs[VERBS] = {
		[VERB_GET] = "GET",
		[VERB_CREATE] = "POST",
		[VERB_DELETE] = "DELETE",
		[VERB_PATCH] = "PATCH",
		[VERB_PATCH_STATUS] = "PATCH-STATUS",
		[LISTS] = "LIST",
		[WATCHES] = "WATCH",
	};

	family(out, "rest_client_requests_total", "counter", "Requests to the API server, by code and method.");
	for (size_t i = 0; i < m->n_requests; i++) {
		const struct requests_counter *r = &m->requests[i];
		char code[16];

		/* As client-go says it when no answer came. */
		snprintf(code, sizeof(code), "%d", r->code);
		buf_printf(out, "rest_client_requests_total{code=\"%s\",method=\"%s\"} %llu\n",
		           r->code ? code : "<error>", methods[r->verb], (unsigned long long)r->n);
	}
	family(out, "rest_client_request_duration_seconds", "histogram", "How long the API server took to answer.");
	for (int v = 0; v < VERBS; v++) {
		char labels[32];

		snprintf(labels, sizeof(labels), "verb=\"%s\"", verbs[v]);
		put_histogram(out, "rest_client_request_duration_seconds", labels, &m->latency[v]);
	}
}

static void put_served(const struct metrics_now *now, struct buf *out)
{
	family(out, "dl_operator_kind_served", "gauge",
	       "1 if the jobs of the kind can be listed; if 0, the log says why.");
	for (size_t i = 0; now->op && i < kinds_count(now->kinds); i++) {
		struct str id = kinds_at(now->kinds, i)->id;

		buf_printf(out, "dl_operator_kind_served{kind=\"%.*s\"} %d\n", STR_F(id), operator_serves(now->op, id));
	}
}

static void put_jobs(const struct metrics *m, const struct metrics_now *now, struct buf *out)
{
	family(out, "dl_operator_jobs", "gauge", "Jobs by kind and phase.");
	for (size_t i = 0; now->op && i < kinds_count(now->kinds); i++) {
		struct str id = kinds_at(now->kinds, i)->id;
		size_t n[PHASE_COUNT];

		operator_phases(now->op, id, n);
		for (int p = 0; p < PHASE_COUNT; p++)
			buf_printf(out, "dl_operator_jobs{kind=\"%.*s\",phase=\"%s\"} %zu\n", STR_F(id),
			           p == PHASE_NONE ? "None" : phase_name((enum phase)p), n[p]);
	}
	family(out, "dl_operator_jobs_ended_total", "counter", "Jobs that ended, by kind and final phase.");
	for (size_t i = 0; i < m->n_kinds; i++)
		for (int p = PHASE_SUCCEEDED; p < PHASE_COUNT; p++)
			buf_printf(out, "dl_operator_jobs_ended_total{kind=\"%s\",phase=\"%s\"} %llu\n",
			           m->kinds[i].kind, phase_name((enum phase)p),
			           (unsigned long long)m->kinds[i].ended[p]);
	family(out, "dl_operator_restarts_total", "counter", "Restarts by kind and cause.");
	for (size_t i = 0; i < m->n_kinds; i++)
		for (int c = 0; c < CAUSE_COUNT; c++)
			buf_printf(out, "dl_operator_restarts_total{kind=\"%s\",cause=\"%s\"} %llu\n", m->kinds[i].kind,
			           cause_name((enum cause)c), (unsigned long long)m->kinds[i].restarts[c]);
	family(out, "dl_operator_restarted_run_seconds_total", "counter",
	       "How long the attempts had run that ended in a restart, by kind and cause.");
	for (size_t i = 0; i < m->n_kinds; i++)
		for (int c = 0; c < CAUSE_COUNT; c++)
			buf_printf(out, "dl_operator_restarted_run_seconds_total{kind=\"%s\",cause=\"%s\"} %.3f\n",
			           m->kinds[i].kind, cause_name((enum cause)c), (double)m->kinds[i].ran[c] / 1000);
	family(out, "dl_operator_job_start_seconds", "histogram", "From a job's creation until all of its pods ran.");
	for (size_t i = 0; i < m->n_kinds; i++) {
		char labels[256];

		snprintf(labels, sizeof(labels), "kind=\"%s\"", m->kinds[i].kind);
		put_histogram(out, "dl_operator_job_start_seconds", labels, &m->kinds[i].start);
	}
}

static void put_by_resource(struct buf *out, const char *name, const char *help, const size_t n[static RES_COUNT])
{
	family(out, name, "gauge", help);
	for (int r = 0; r < RES_COUNT; r++)
		buf_printf(out, "%s{resource=\"%s\"} %zu\n", name, resource_plural((enum resource)r), n[r]);
}

static void put_queue(const struct metrics_now *now, struct buf *out)
{
	struct operator_stats s = now->op ? operator_stats(now->op) : (struct operator_stats){ 0 };
	const size_t known[RES_COUNT] = {
		[RES_JOB] = s.jobs,   [RES_POD] = s.pods,     [RES_SERVICE] = s.services,
		[RES_NODE] = s.nodes, [RES_GROUP] = s.groups,
	};
	const struct {
		const char *name, *type, *help;
		uint64_t value;
	} t[] = {
		{ "workqueue_depth", "gauge", "Jobs ready for a pass.", s.ready },
		{ "workqueue_adds_total", "counter", "How often a job was put into the queue.", s.adds },
		{ "workqueue_retries_total", "counter", "How often a job was put back after a failure.", s.retries },
	};

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		family(out, t[i].name, t[i].type, t[i].help);
		buf_printf(out, "%s{name=\"jobs\"} %llu\n", t[i].name, (unsigned long long)t[i].value);
	}
	one(out, "dl_operator_queue_waiting", "gauge", "Jobs waiting for a timer.", (double)s.waiting);
	one(out, "dl_operator_requests_in_flight", "gauge", "Requests without an answer yet.", (double)s.in_flight);
	put_by_resource(out, "dl_operator_cached_objects", "Objects in the cache.", known);
	put_by_resource(out, "dl_operator_unread_objects", "Objects that are too large to be read.", s.unread);
}

static void put_process(const struct metrics_process *p, struct buf *out)
{
	one(out, "process_cpu_seconds_total", "counter", "User and system time in seconds.", p->cpu_seconds);
	one(out, "process_resident_memory_bytes", "gauge", "Resident memory.", (double)p->resident);
	one(out, "process_virtual_memory_bytes", "gauge", "Virtual memory.", (double)p->virtual_size);
	one(out, "process_open_fds", "gauge", "Open file descriptors.", (double)p->open_fds);
	one(out, "process_max_fds", "gauge", "The limit of open file descriptors.", (double)p->max_fds);
	one(out, "process_start_time_seconds", "gauge", "When the process started, since 1970.", p->start_seconds);
}

void metrics_write(const struct metrics *m, const struct metrics_now *now, struct buf *out)
{
	put_queue(now, out);
	put_reconciles(m, out);
	put_served(now, out);
	put_jobs(m, now, out);
	put_requests(m, out);
	if (now->leads >= 0) {
		family(out, "leader_election_master_status", "gauge", "1 if this process is the leader.");
		buf_printf(out, "leader_election_master_status{name=\"%.*s\"} %d\n", STR_F(now->lease), now->leads);
	}
	one(out, "dl_operator_events_dropped_total", "counter",
	    "Kubernetes Events dropped because there were too many.", (double)now->events_dropped);
	family(out, "dl_operator_build_info", "gauge", "The version.");
	buf_printf(out, "dl_operator_build_info{version=\"%s\"} 1\n", DL_VERSION);
	put_process(&now->process, out);
}
