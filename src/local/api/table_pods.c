/* Rows of pods, as `kubectl get pods` shows them. */
#include "local/api/table_cells.h"

static const struct table_column pod_columns[] = {
	{ "Name", "string", "name", 0 },
	{ "Ready", "string", "", 0 },
	{ "Status", "string", "", 0 },
	{ "Restarts", "string", "", 0 },
	{ "Age", "string", "", 0 },
	{ "IP", "string", "", 1 },
	{ "Node", "string", "", 1 },
	{ "Nominated Node", "string", "", 1 },
	{ "Readiness Gates", "string", "", 1 },
};

/* What the containers say together. */
struct summary {
	char status[160];
	int64_t ready, restarts;
	msec last_restart; /* 0: none */
};

static int64_t int_of(yyjson_val *v)
{
	int64_t n = 0;

	json_int(v, &n);
	return n;
}

static void set_status(struct summary *s, const char *prefix, struct str text)
{
	snprintf(s->status, sizeof(s->status), "%s%.*s", prefix, STR_F(str_sub(text, 0, 120)));
}

static void set_terminated(struct summary *s, const char *prefix, yyjson_val *terminated)
{
	struct str reason = json_str(json_get(terminated, "reason"));
	int64_t signal = int_of(json_get(terminated, "signal"));

	if (reason.n)
		set_status(s, prefix, reason);
	else if (signal)
		snprintf(s->status, sizeof(s->status), "%sSignal:%lld", prefix, (long long)signal);
	else
		snprintf(s->status, sizeof(s->status), "%sExitCode:%lld", prefix,
		         (long long)int_of(json_get(terminated, "exitCode")));
}

static void count_restarts(struct summary *s, yyjson_val *status)
{
	msec at;

	s->restarts += int_of(json_get(status, "restartCount"));
	if (time_parse(json_str(json_at(status, "lastState", "terminated", "finishedAt", NULL)), &at))
		s->last_restart = MAX(s->last_restart, at);
}

static yyjson_val *find_named(yyjson_val *list, struct str name)
{
	yyjson_val *v;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, v)
	{
		if (str_eq(json_str(json_get(v, "name")), name))
			return v;
	}
	return NULL;
}

/* An init container that goes on beside the others. */
static bool is_sidecar(yyjson_val *container)
{
	return str_eqc(json_str(json_get(container, "restartPolicy")), "Always");
}

static bool condition_is_true(yyjson_val *pod, const char *type)
{
	yyjson_val *v;
	size_t i, max;

	yyjson_arr_foreach(json_at(pod, "status", "conditions", NULL), i, max, v)
	{
		if (str_eqc(json_str(json_get(v, "type")), type))
			return str_eqc(json_str(json_get(v, "status")), "True");
	}
	return false;
}

/* True: one of them has not succeeded yet. */
static bool add_init(struct summary *s, yyjson_val *pod)
{
	yyjson_val *specs = json_at(pod, "spec", "initContainers", NULL), *status;
	size_t i, max;

	yyjson_arr_foreach(json_at(pod, "status", "initContainerStatuses", NULL), i, max, status)
	{
		yyjson_val *state = json_get(status, "state"), *ended = json_get(state, "terminated");
		struct str waits = json_str(json_at(state, "waiting", "reason", NULL));
		bool sidecar = is_sidecar(find_named(specs, json_str(json_get(status, "name"))));

		count_restarts(s, status);
		if (ended && int_of(json_get(ended, "exitCode")) == 0)
			continue;
		if (sidecar && yyjson_is_true(json_get(status, "started"))) {
			s->ready += yyjson_is_true(json_get(status, "ready"));
			continue;
		}
		if (ended)
			set_terminated(s, "Init:", ended);
		else if (waits.n && !str_eqc(waits, "PodInitializing"))
			set_status(s, "Init:", waits);
		else
			snprintf(s->status, sizeof(s->status), "Init:%zu/%zu", i, yyjson_arr_size(specs));
		return true;
	}
	return false;
}

static int64_t sidecar_restarts(yyjson_val *pod)
{
	yyjson_val *specs = json_at(pod, "spec", "initContainers", NULL), *status;
	int64_t n = 0;
	size_t i, max;

	yyjson_arr_foreach(json_at(pod, "status", "initContainerStatuses", NULL), i, max, status)
	{
		if (is_sidecar(find_named(specs, json_str(json_get(status, "name")))))
			n += int_of(json_get(status, "restartCount"));
	}
	return n;
}

/* From the last to the first: the first one's state stands. */
static void add_containers(struct summary *s, yyjson_val *pod)
{
	yyjson_val *statuses = json_at(pod, "status", "containerStatuses", NULL);
	bool running = false;

	s->restarts = sidecar_restarts(pod);
	for (size_t i = yyjson_arr_size(statuses); i-- > 0;) {
		yyjson_val *status = yyjson_arr_get(statuses, i), *state = json_get(status, "state");
		yyjson_val *ended = json_get(state, "terminated");
		struct str waits = json_str(json_at(state, "waiting", "reason", NULL));

		count_restarts(s, status);
		if (waits.n) {
			set_status(s, "", waits);
		} else if (ended) {
			set_terminated(s, "", ended);
		} else if (yyjson_is_true(json_get(status, "ready")) && json_get(state, "running")) {
			running = true;
			s->ready++;
		}
	}
	if (running && strcmp(s->status, "Completed") == 0)
		set_status(s, "", condition_is_true(pod, "Ready") ? STR("Running") : STR("NotReady"));
}

static struct summary summarize(yyjson_val *pod)
{
	struct str phase = json_str(json_at(pod, "status", "phase", NULL));
	struct str reason = json_str(json_at(pod, "status", "reason", NULL));
	bool over = str_eqc(phase, "Succeeded") || str_eqc(phase, "Failed");
	struct summary s = { 0 };

	set_status(&s, "", reason.n ? reason : phase);
	if (!add_init(&s, pod) || condition_is_true(pod, "Initialized"))
		add_containers(&s, pod);
	if (json_at(pod, "metadata", "deletionTimestamp", NULL)) {
		if (str_eqc(reason, "NodeLost"))
			set_status(&s, "", STR("Unknown"));
		else if (!over)
			set_status(&s, "", STR("Terminating"));
	}
	return s;
}

static size_t count_containers(yyjson_val *pod)
{
	size_t n = yyjson_arr_size(json_at(pod, "spec", "containers", NULL)), i, max;
	yyjson_val *v;

	yyjson_arr_foreach(json_at(pod, "spec", "initContainers", NULL), i, max, v)
	{
		n += is_sidecar(v);
	}
	return n;
}

static void pod_row(struct table_cells *c, yyjson_val *pod)
{
	struct summary s = summarize(pod);
	char age[AGE_TEXT];

	cell_text(c, json_str(json_at(pod, "metadata", "name", NULL)));
	cell_textf(c, "%lld/%zu", (long long)s.ready, count_containers(pod));
	cell_text(c, str_c(s.status));
	if (s.restarts && s.last_restart)
		cell_textf(c, "%lld (%s ago)", (long long)s.restarts, age_format(c->now - s.last_restart, age));
	else
		cell_textf(c, "%lld", (long long)s.restarts);
	cell_age(c, json_at(pod, "metadata", "creationTimestamp", NULL));
	cell_or_none(c, json_str(json_at(pod, "status", "podIP", NULL)));
	cell_or_none(c, json_str(json_at(pod, "spec", "nodeName", NULL)));
	cell_or_none(c, json_str(json_at(pod, "status", "nominatedNodeName", NULL)));
	cell_or_none(c, STR_NONE);
}

const struct table_type table_pods = { "", "pods", pod_columns, ARRAY_LEN(pod_columns), pod_row };
