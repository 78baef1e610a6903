/* The jobs that simulated users write: small manifests of every kind, with varied policies. */
#include "sim/manifest.h"
#include "sim/sim.h"

struct role_row {
	const char *title, *name;
	bool serves; /* runs until it is told to stop */
	int32_t least, most;
};

static const struct kind_row {
	const char *id, *api_version, *kind, *container;
	const char *type_field; /* what names a role in an element of replicaSpecs */
	struct role_row roles[SIM_ROLES];
	size_t works; /* the role whose replicas do the work */
	int chief;    /* the role of the default chief; -1: none */
	bool codes;   /* the chief's exit code has classes */
} kinds[] = {
	{ "MXJob.mpba.fbk.eu",
	  "mpba.fbk.eu/v1",
	  "MXJob",
	  "mxnet",
	  "replicaType",
	  { { "SCHEDULER", "scheduler", false, 1, 1 },
	    { "SERVER", "server", true, 1, 1 },
	    { "WORKER", "worker", false, 1, 8 } },
	  2,
	  0,
	  false },
	{ "TFJob.mpba.fbk.eu",
	  "mpba.fbk.eu/v1",
	  "TFJob",
	  "tensorflow",
	  "replicaType",
	  { { "ps", "ps", true, 1, 2 }, { "worker", "worker", false, 1, 8 } },
	  1,
	  -1,
	  false },
	{ "MXJob.fioravanzo.org",
	  "fioravanzo.org/v1alpha1",
	  "MXJob",
	  "mxnet",
	  "mxReplicaType",
	  { { "SCHEDULER", "scheduler", false, 1, 1 },
	    { "SERVER", "server", true, 1, 1 },
	    { "WORKER", "worker", false, 1, 8 } },
	  2,
	  0,
	  true },
	{ "TfJob.mlkube.io",
	  "mlkube.io/v1beta1",
	  "TfJob",
	  "tensorflow",
	  "tfReplicaType",
	  { { "MASTER", "master", false, 1, 1 }, { "PS", "ps", true, 1, 1 }, { "WORKER", "worker", false, 1, 8 } },
	  2,
	  0,
	  true },
	{ "AITrainingJob.elasticdeeplearning.ai",
	  "elasticdeeplearning.ai/v1",
	  "AITrainingJob",
	  "aitj-main",
	  NULL,
	  { { "pserver", "pserver", true, 1, 1 }, { "trainer", "trainer", false, 1, 8 } },
	  1,
	  -1,
	  false },
};

enum { KIND_A_MX, KIND_A_TF, KIND_B, KIND_C, KIND_D };

size_t manifest_kinds(void)
{
	return ARRAY_LEN(kinds);
}

const char *manifest_kind_id(size_t row)
{
	return kinds[row].id;
}

const char *manifest_role_name(size_t row, size_t role)
{
	return role < SIM_ROLES && kinds[row].roles[role].name ? kinds[row].roles[role].name : "tensorboard";
}

size_t manifest_role(size_t row, struct str name)
{
	for (size_t i = 0; i < SIM_ROLES && kinds[row].roles[i].name; i++)
		if (str_eqc(name, kinds[row].roles[i].name))
			return i;
	return SIM_ROLES;
}

bool manifest_serves(size_t row, size_t role)
{
	return role >= SIM_ROLES || kinds[row].roles[role].serves;
}

bool manifest_plain_names(size_t row)
{
	return row == KIND_A_MX || row == KIND_A_TF;
}

bool manifest_chief(const struct sim_wish *w, size_t role, int32_t index)
{
	return kinds[w->kind].chief == (int)role && index == 0;
}

bool manifest_flaky(const struct sim_wish *w, size_t role, int32_t index)
{
	return role == kinds[w->kind].works && index == 0;
}

int32_t *manifest_count(struct sim_wish *w)
{
	return &w->counts[kinds[w->kind].works];
}

static void wild(struct sim *s, struct sim_wish *w)
{
	struct rng *r = &s->rng;

	w->restart_said = rng_one_in(r, 2);
	w->restart = (enum restart_policy)rng_below(r, RESTART_ON_NODE_FAIL_WITH_EXIT_CODE + 1);
	w->scope_said = rng_one_in(r, 2);
	w->scope = (enum scope)rng_below(r, 3);
	if (rng_one_in(r, 2))
		w->limit = (int32_t)rng_below(r, 4);
	if (rng_one_in(r, 10))
		w->time_limit = (int32_t)rng_between(r, 5, 100);
	if (rng_one_in(r, s->busy ? 2 : 12))
		w->deadline = (int32_t)rng_between(r, 5, s->busy ? 30 : 200);
	w->clean_said = rng_one_in(r, 2);
	w->clean = (enum clean)rng_below(r, 3);
	w->complete_said = rng_one_in(r, 6);
	w->complete = (enum role_end)rng_below(r, 4);
	w->fail_said = rng_one_in(r, 6);
	w->fail = (enum role_end)rng_below(r, 4);
	w->suspend = rng_one_in(r, 20);
	w->invalid = rng_one_in(r, 15);
	w->init = rng_one_in(r, 4);
	w->in_place = rng_one_in(r, 6);
	if (rng_one_in(r, 4))
		w->tolerate = rng_one_in(r, 3) ? TOLERATED_FOR_EVER : (int32_t)rng_between(r, 0, 120);
	w->elastic = w->kind == KIND_D && !rng_one_in(r, 4);
	if (rng_one_in(r, 3))
		w->window = (int32_t)rng_between(r, 0, 60);
	/* By its number, so that the other jobs of a seed are what they were without it. */
	w->own_board = w->kind == KIND_C && rng_one_in(r, 6);
	w->tensorboard = w->own_board || w->serial % 4 == 1;
	w->tensorboard_ttl = w->serial % 8 == 1 ? (int32_t)(w->serial * 7 % 60) : -1;
}

/* One that is loaded. */
static size_t some_kind(struct sim *s)
{
	size_t row, tries = 0;

	do {
		row = rng_below(&s->rng, ARRAY_LEN(kinds));
		ASSERT(tries++ < 1000);
	} while (!kinds_by_id(s->kinds, str_c(kinds[row].id)));
	return row;
}

struct sim_wish manifest_wish(struct sim *s)
{
	struct rng *r = &s->rng;
	struct sim_wish w = { .serial = ++s->wishes,
		              .kind = some_kind(s),
		              .limit = -1,
		              .window = -1,
		              .time_limit = -1,
		              .deadline = -1,
		              .ttl = -1,
		              .tensorboard_ttl = -1,
		              .tolerate = -1 };

	for (size_t i = 0; i < SIM_ROLES && kinds[w.kind].roles[i].name; i++)
		w.counts[i] = (int32_t)rng_between(r, kinds[w.kind].roles[i].least, kinds[w.kind].roles[i].most);
	if (rng_one_in(r, 4))
		w.ttl = (int32_t)rng_below(r, 60);
	switch (rng_below(r, 5)) {
	case 0:
		w.script = SCRIPT_GOOD;
		break;
	case 1:
		w.script = SCRIPT_FLAKY;
		w.flaky = (int32_t)rng_between(r, 1, 3);
		w.restart_said = true;
		w.restart = rng_one_in(r, 2) ? RESTART_ON_FAILURE : RESTART_ALWAYS;
		w.scope_said = true;
		w.scope = (enum scope)rng_below(r, 3);
		w.limit = (int32_t)rng_below(r, 4);
		break;
	case 2:
		w.script = kinds[w.kind].codes ? SCRIPT_PERMANENT : SCRIPT_GOOD;
		break;
	default:
		wild(s, &w);
	}
	w.ordered = !s->gang && rng_one_in(r, 4) && kinds[w.kind].works > 0;
	w.sidecar = rng_one_in(r, 4);
	w.sidecar_again = w.sidecar && rng_one_in(r, 2);
	return w;
}

/* JSON */

static yyjson_mut_val *obj_in(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key)
{
	return yyjson_mut_obj_add_obj(doc, parent, key);
}

static void render_tolerations(const struct sim_wish *w, yyjson_mut_doc *doc, yyjson_mut_val *spec)
{
	static const char *const taints[] = { "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable" };
	yyjson_mut_val *list, *one;

	if (w->tolerate < 0)
		return;
	list = yyjson_mut_obj_add_arr(doc, spec, "tolerations");
	for (size_t i = 0; i < ARRAY_LEN(taints); i++) {
		one = yyjson_mut_arr_add_obj(doc, list);
		yyjson_mut_obj_add_str(doc, one, "key", taints[i]);
		yyjson_mut_obj_add_str(doc, one, "operator", "Exists");
		yyjson_mut_obj_add_str(doc, one, "effect", "NoExecute");
		if (w->tolerate != TOLERATED_FOR_EVER)
			yyjson_mut_obj_add_int(doc, one, "tolerationSeconds", w->tolerate);
	}
}

static yyjson_mut_val *render_template(const struct sim_wish *w, yyjson_mut_doc *doc)
{
	yyjson_mut_val *t = yyjson_mut_obj(doc), *spec = obj_in(doc, t, "spec"), *list, *c;

	if (w->init) {
		c = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, spec, "initContainers"));
		yyjson_mut_obj_add_str(doc, c, "name", "prepare");
		yyjson_mut_obj_add_str(doc, c, "image", "busybox");
	}
	list = yyjson_mut_obj_add_arr(doc, spec, "containers");
	c = yyjson_mut_arr_add_obj(doc, list);
	yyjson_mut_obj_add_str(doc, c, "name", kinds[w->kind].container);
	yyjson_mut_obj_add_str(doc, c, "image", "train");
	if (w->in_place)
		yyjson_mut_obj_add_str(doc, c, "restartPolicy", "OnFailure");
	if (w->sidecar) {
		c = yyjson_mut_arr_add_obj(doc, list);
		yyjson_mut_obj_add_str(doc, c, "name", "shipper");
		yyjson_mut_obj_add_str(doc, c, "image", "logs");
		if (w->sidecar_again)
			yyjson_mut_obj_add_str(doc, c, "restartPolicy", "Always");
	}
	render_tolerations(w, doc, spec);
	return t;
}

static void render_restart(const struct sim_wish *w, yyjson_mut_doc *doc, yyjson_mut_val *policy)
{
	yyjson_mut_val *r = obj_in(doc, policy, "restart"), *b = obj_in(doc, r, "backoff");

	yyjson_mut_obj_add_int(doc, b, "initialSeconds", 1);
	yyjson_mut_obj_add_int(doc, b, "maxSeconds", 16);
	/* The kind whose own fields say it. */
	if (w->kind == KIND_D)
		return;
	if (w->restart_said) {
		yyjson_mut_obj_add_str(doc, r, "policy", restart_policy_name(w->restart));
		if (w->restart == RESTART_EXIT_CODE || w->restart == RESTART_ON_NODE_FAIL_WITH_EXIT_CODE)
			yyjson_mut_obj_add_str(doc, r, "exitCodes", "128-255");
	}
	if (w->scope_said)
		yyjson_mut_obj_add_str(doc, r, "scope", scope_name(w->scope));
	if (w->limit >= 0)
		yyjson_mut_obj_add_int(doc, r, "limit", w->limit);
	if (w->window >= 0)
		yyjson_mut_obj_add_int(doc, r, "window", w->window);
}

static void render_tensorboard(const struct sim_wish *w, yyjson_mut_doc *doc, yyjson_mut_val *parent)
{
	yyjson_mut_val *tb = obj_in(doc, parent, "tensorboard");

	yyjson_mut_obj_add_str(doc, tb, "logDir", "/logs");
	if (w->tensorboard_ttl >= 0)
		yyjson_mut_obj_add_int(doc, tb, "ttlSecondsAfterFinished", w->tensorboard_ttl);
}

static yyjson_mut_val *render_policy(const struct sim_wish *w, yyjson_mut_doc *doc)
{
	yyjson_mut_val *p = yyjson_mut_obj(doc), *role;
	const struct role_row *works = &kinds[w->kind].roles[kinds[w->kind].works];

	render_restart(w, doc, p);
	if (w->deadline >= 0)
		yyjson_mut_obj_add_int(doc, p, "activeDeadlineSeconds", w->deadline);
	if (w->time_limit >= 0 && w->kind != KIND_D)
		yyjson_mut_obj_add_int(doc, p, "timeLimit", w->time_limit);
	if (w->ttl >= 0)
		yyjson_mut_obj_add_int(doc, p, "ttlSecondsAfterFinished", w->ttl);
	if (w->clean_said)
		yyjson_mut_obj_add_str(doc, p, "cleanPods", clean_name(w->clean));
	if (w->suspend)
		yyjson_mut_obj_add_bool(doc, p, "suspend", true);
	if (w->tensorboard && !w->own_board)
		render_tensorboard(w, doc, p);
	if (w->ordered)
		yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, obj_in(doc, p, "startAfter"), works->title),
		                       kinds[w->kind].roles[0].name);
	if (w->kind != KIND_D && (w->complete_said || w->fail_said)) {
		role = obj_in(doc, obj_in(doc, p, "roles"), works->title);
		if (w->complete_said)
			yyjson_mut_obj_add_str(doc, role, "complete", role_end_name(w->complete));
		if (w->fail_said)
			yyjson_mut_obj_add_str(doc, role, "fail", role_end_name(w->fail));
	}
	return p;
}

static void render_d_role(const struct sim_wish *w, size_t i, yyjson_mut_doc *doc, yyjson_mut_val *one)
{
	static const char *const scopes[] = { "Pod", "Replica", "All" };

	if (w->restart_said)
		yyjson_mut_obj_add_str(doc, one, "restartPolicy", restart_policy_name(w->restart));
	if (w->scope_said)
		yyjson_mut_obj_add_str(doc, one, "restartScope", scopes[w->scope]);
	if (w->limit >= 0)
		yyjson_mut_obj_add_int(doc, one, "restartLimit", w->limit);
	if (w->elastic && !kinds[w->kind].roles[i].serves) {
		yyjson_mut_obj_add_str(doc, one, "edlPolicy", "Manual");
		yyjson_mut_obj_add_int(doc, one, "minReplicas", 1);
		yyjson_mut_obj_add_int(doc, one, "maxReplicas", 8);
	}
	if (kinds[w->kind].roles[i].serves)
		yyjson_mut_obj_add_str(doc, one, "completePolicy", "None");
	else if (w->complete_said)
		yyjson_mut_obj_add_str(doc, one, "completePolicy", role_end_name(w->complete));
	if (w->fail_said && !kinds[w->kind].roles[i].serves)
		yyjson_mut_obj_add_str(doc, one, "failPolicy", role_end_name(w->fail));
}

static yyjson_mut_val *render_role(const struct sim_wish *w, size_t i, yyjson_mut_doc *doc)
{
	const struct kind_row *k = &kinds[w->kind];
	yyjson_mut_val *one = yyjson_mut_obj(doc);

	yyjson_mut_obj_add_int(doc, one, "replicas", w->invalid && i == k->works ? -1 : w->counts[i]);
	if (k->type_field)
		yyjson_mut_obj_add_str(doc, one, k->type_field, k->roles[i].title);
	else
		render_d_role(w, i, doc, one);
	yyjson_mut_obj_add_val(doc, one, "template", render_template(w, doc));
	return one;
}

static yyjson_mut_val *render_spec(const struct sim_wish *w, yyjson_mut_doc *doc)
{
	const struct kind_row *k = &kinds[w->kind];
	bool array = manifest_plain_names(w->kind), map = w->kind == KIND_D;
	yyjson_mut_val *spec = array ? yyjson_mut_arr(doc) : yyjson_mut_obj(doc), *roles = spec;

	if (map)
		roles = obj_in(doc, spec, "replicaSpecs");
	else if (!array)
		roles = yyjson_mut_obj_add_arr(doc, spec, "replicaSpecs");
	for (size_t i = 0; i < SIM_ROLES && k->roles[i].name; i++) {
		if (map)
			yyjson_mut_obj_add_val(doc, roles, k->roles[i].title, render_role(w, i, doc));
		else
			yyjson_mut_arr_append(roles, render_role(w, i, doc));
	}
	if (w->tensorboard && w->own_board)
		render_tensorboard(w, doc, spec);
	if (map && w->restart_said)
		yyjson_mut_obj_add_str(doc, spec, "restartingExitCode", "137,143,255");
	if (map && w->time_limit >= 0)
		yyjson_mut_obj_add_int(doc, spec, "timeLimit", w->time_limit);
	if (!array)
		yyjson_mut_obj_add_val(doc, spec, "policy", render_policy(w, doc));
	return spec;
}

static void render_annotations(const struct sim_wish *w, yyjson_mut_doc *doc, yyjson_mut_val *meta)
{
	yyjson_mut_val *notes = obj_in(doc, meta, "annotations");

	if (w->annotation)
		yyjson_mut_obj_add_str(doc, notes, w->annotation, "asked for");
	/* Those kinds are also the ones whose spec is an array. */
	if (manifest_plain_names(w->kind)) {
		struct buf text = BUF_INIT(4096);

		json_write(render_policy(w, doc), &text);
		json_mut_put(doc, notes, STR(ANNOTATION_POLICY), json_mut_str(doc, buf_str(&text)));
		buf_release(&text);
	}
}

yyjson_mut_val *manifest_render(struct sim *s, const struct sim_job *job, struct str rv, msec deleted,
                                yyjson_mut_doc *doc)
{
	const struct kind_row *k = &kinds[job->wish.kind];
	yyjson_mut_val *root = yyjson_mut_obj(doc), *meta;
	char text[TIME_TEXT];

	yyjson_mut_obj_add_str(doc, root, "apiVersion", k->api_version);
	yyjson_mut_obj_add_str(doc, root, "kind", k->kind);
	meta = obj_in(doc, root, "metadata");
	json_mut_put(doc, meta, STR("namespace"), json_mut_str(doc, STR("ml")));
	json_mut_put(doc, meta, STR("name"), json_mut_str(doc, job->name));
	json_mut_put(doc, meta, STR("uid"), json_mut_str(doc, job->uid));
	json_mut_put(doc, meta, STR("resourceVersion"), json_mut_str(doc, rv));
	yyjson_mut_obj_add_int(doc, meta, "generation", job->generation);
	json_mut_put(
		doc, meta, STR("creationTimestamp"),
		json_mut_str(doc, str_c(time_format(job->now ? job->now->object.job->meta.created : s->now, text))));
	if (deleted)
		json_mut_put(doc, meta, STR("deletionTimestamp"), json_mut_str(doc, str_c(time_format(deleted, text))));
	render_annotations(&job->wish, doc, meta);
	yyjson_mut_obj_add_val(doc, root, "spec", render_spec(&job->wish, doc));
	return root;
}
