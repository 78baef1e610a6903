/* The steps of a history, and what must be seen after each. */
#include "stage.h"

/* --- what must be seen --- */

static bool path_there(yyjson_val *root, struct str path)
{
	struct str key;

	while (root && str_next(&path, '.', &key))
		root = json_get_str(root, key);
	return root && !yyjson_is_null(root);
}

static void see_absent(struct stage *s, struct str path, yyjson_val *list)
{
	for (size_t i = 0; i < yyjson_arr_size(list); i++) {
		struct str field = json_str(yyjson_arr_get(list, i));

		if (path_there(yyjson_doc_get_root(s->status), field))
			differ(s->g, item_path(s->g, path, i), "status.%.*s is there", STR_F(field));
	}
}

static void see_says(struct stage *s, struct str path, yyjson_val *text)
{
	struct str said = json_str(json_at(yyjson_doc_get_root(s->status), "dlOperator", "reason", NULL));
	struct str want = json_str(text);

	if (!want.n || !said.n || !memmem(said.p, said.n, want.p, want.n))
		differ(s->g, path, "\n    expected …%.*s…\n    got      %.*s", STR_F(want), STR_F(said));
}

static const struct pod *leaving(const struct stage_pod *p, bool want)
{
	return !p->pod.gone && (p->pod.meta.deleted != 0) == want ? &p->pod : NULL;
}

/* Replica → generation, of all that are not asked to go. */
static void see_pods(struct stage *s, struct str path, yyjson_val *want)
{
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *obj = yyjson_mut_obj(doc);
	yyjson_doc *got;

	for (size_t i = 0; i < s->pods.n; i++) {
		const struct pod *p = leaving(s->pods.v[i], false);

		if (p)
			json_mut_put(doc, obj, arena_printf(&s->a, "%.*s-%d", STR_F(p->role), p->index),
			             yyjson_mut_sint(doc, p->generation));
	}
	got = yyjson_mut_val_imut_copy(obj, NULL);
	compare(s->g, path, want, yyjson_doc_get_root(got), COMPARE_EXACT);
	yyjson_doc_free(got);
	yyjson_mut_doc_free(doc);
}

static void see_leaving(struct stage *s, struct str path, yyjson_val *want)
{
	size_t n = 0;

	for (size_t i = 0; i < s->pods.n; i++) {
		const struct pod *p = leaving(s->pods.v[i], true);
		bool found = false;
		struct str name;

		if (!p)
			continue;
		n++;
		name = arena_printf(&s->a, "%.*s-%d", STR_F(p->role), p->index);
		for (size_t k = 0; k < yyjson_arr_size(want); k++)
			found = found || str_eq(json_str(yyjson_arr_get(want, k)), name);
		if (!found)
			differ(s->g, path, "%.*s is asked to go", STR_F(name));
	}
	if (n < yyjson_arr_size(want))
		differ(s->g, path, "only %zu are asked to go", n);
}

static void see_services(struct stage *s, struct str path, yyjson_val *want)
{
	int64_t n = -1;

	if (!json_int(want, &n) || (size_t)n != s->services.n)
		differ(s->g, path, "there are %zu services", s->services.n);
}

static void see_deleted(struct stage *s, struct str path, yyjson_val *want)
{
	if (yyjson_get_bool(want) != s->job_deleted)
		differ(s->g, path, "the job is %sdeleted", s->job_deleted ? "" : "not ");
}

static void see_status(struct stage *s, struct str path, yyjson_val *want)
{
	compare(s->g, path, want, yyjson_doc_get_root(s->status), COMPARE_SUBSET);
}

/* {trainer-0: {labels: {…}, env: {…}, image: …}}: what a pod that exists was told; env and image are those of
   its first container. */
static void see_env(struct stage *s, struct str path, yyjson_val *want, yyjson_val *container)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(want);
	yyjson_val *name;

	while ((name = yyjson_obj_iter_next(&it))) {
		yyjson_arr_iter env = yyjson_arr_iter_with(json_get(container, "env"));
		yyjson_val *v, *got = NULL;

		while ((v = yyjson_arr_iter_next(&env)))
			if (str_eq(json_str(json_get(v, "name")), json_str(name)))
				got = json_get(v, "value");
		compare(s->g, key_path(s->g, path, json_str(name)), yyjson_obj_iter_get_val(name), got, COMPARE_EXACT);
	}
}

static void see_told(struct stage *s, struct str path, yyjson_val *want)
{
	static const char *const known[] = { "labels", "env", "image", NULL };
	yyjson_obj_iter it = yyjson_obj_iter_with(want);
	yyjson_val *k;

	while ((k = yyjson_obj_iter_next(&it))) {
		struct stage_pod *p = stage_pod(s, json_str(k));
		struct str at = key_path(s->g, path, json_str(k));
		yyjson_val *said = yyjson_obj_iter_get_val(k), *pod = p ? yyjson_doc_get_root(p->doc) : NULL;
		yyjson_val *first = yyjson_arr_get(json_at(pod, "spec", "containers", NULL), 0);

		if (!keys_known(s->g, at, said, known))
			continue;
		if (!pod)
			differ(s->g, at, "there is no such pod");
		if (json_get(said, "labels"))
			compare(s->g, key_path(s->g, at, STR("labels")), json_get(said, "labels"),
			        json_at(pod, "metadata", "labels", NULL), COMPARE_SUBSET);
		if (json_get(said, "image"))
			compare(s->g, key_path(s->g, at, STR("image")), json_get(said, "image"),
			        json_get(first, "image"), COMPARE_EXACT);
		see_env(s, key_path(s->g, at, STR("env")), json_get(said, "env"), first);
	}
}

static const struct {
	const char *name;
	void (*fn)(struct stage *s, struct str path, yyjson_val *want);
} sights[] = {
	{ "status", see_status },   { "absent", see_absent },     { "says", see_says },       { "pods", see_pods },
	{ "leaving", see_leaving }, { "services", see_services }, { "deleted", see_deleted }, { "told", see_told },
};

/* --- one step --- */

enum { EVENTS = 32 };

static bool step_keys_known(struct stage *s, yyjson_val *step, size_t *n_events, size_t *n_sights)
{
	const char *known[EVENTS + ARRAY_LEN(sights) + 2] = { "about" };
	size_t n = 1;

	*n_events = *n_sights = 0;
	for (size_t i = 0; events[i].name; i++) {
		ASSERT(i < EVENTS);
		*n_events += json_get(step, events[i].name) != NULL;
		known[n++] = events[i].name;
	}
	for (size_t i = 0; i < ARRAY_LEN(sights); i++) {
		*n_sights += json_get(step, sights[i].name) != NULL;
		known[n++] = sights[i].name;
	}
	return keys_known(s->g, s->path, step, known);
}

static void play(struct stage *s, yyjson_val *step)
{
	for (size_t i = 0; events[i].name; i++)
		if (json_get(step, events[i].name))
			events[i].fn(s, json_get(step, events[i].name));
	/* Time alone wakes nobody: the plan must have asked for it. */
	if (!json_get(step, "pass"))
		stage_settle(s);
	for (size_t i = 0; i < ARRAY_LEN(sights) && !s->broken; i++) {
		yyjson_val *want = json_get(step, sights[i].name);

		if (want || (sights[i].fn == see_leaving && json_get(step, "pods")))
			sights[i].fn(s, key_path(s->g, s->path, str_c(sights[i].name)), want);
	}
}

void expect_history(struct golden *g, const struct kind *kind, yyjson_mut_doc *object, yyjson_val *old_status,
                    yyjson_val *history)
{
	size_t n_events, n_sights = 0;
	struct stage s;

	stage_open(&s, g, kind, object, old_status);
	stage_settle(&s);
	for (size_t i = 0; i < yyjson_arr_size(history) && !s.broken; i++) {
		yyjson_val *step = yyjson_arr_get(history, i);

		s.path = item_path(g, STR("history"), i);
		if (!step_keys_known(&s, step, &n_events, &n_sights))
			break;
		if (n_events > 1)
			differ(g, s.path, "one thing happens at a step, here are %zu", n_events);
		if (n_events + n_sights == 0)
			differ(g, s.path, "nothing happens, nothing is looked at");
		play(&s, step);
	}
	if (!n_sights)
		differ(g, s.path, "the last step looks at nothing");
	stage_close(&s);
}
