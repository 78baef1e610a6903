#include "job/read.h"

#include "base/json.h"

/* The document as a whole. */
struct job_doc {
	unsigned said;
	yyjson_val *roles, *own, *by_default, *fields, *companions[COMPANION_COUNT];
};

#define AT(member) .offset = offsetof(struct job_doc, member)
static const struct decode_field job_fields[] = {
	{ "roles", FIELD_VAL, AT(roles) },
	{ "own", FIELD_VAL, AT(own) },
	{ "default", FIELD_VAL, AT(by_default) },
	{ "fields", FIELD_VAL, AT(fields) },
	{ "tensorboard", FIELD_VAL, AT(companions[COMPANION_TENSORBOARD]) },
};
#undef AT
static const struct decode_table job_table = TABLE_OF(job_fields);

static const char *const env_values[] = { "counting", "all" };
static const struct decode_names env_names = { env_values, ARRAY_LEN(env_values) };

#define AT(member) .offset = offsetof(struct role_doc, member)
static const struct decode_field role_fields[] = {
	{ "name", FIELD_STR, AT(role.name) },
	{ "title", FIELD_STR, AT(role.title) },
	{ "path", FIELD_STR, AT(role.path) },
	{ "count", FIELD_INT32, AT(role.count), .said = HAS_COUNT, .max = JOB_MAX_REPLICAS },
	{ "min", FIELD_INT32, AT(role.min), .said = HAS_MIN, .max = INT32_MAX },
	{ "max", FIELD_INT32, AT(role.max), .said = HAS_MAX, .max = INT32_MAX },
	{ "elastic", FIELD_BOOL, AT(role.elastic) },
	{ "aux", FIELD_BOOL, AT(role.aux) },
	{ "service", FIELD_BOOL, AT(role.service) },
	{ "template", FIELD_VAL, AT(role.template) },
	{ "containers", FIELD_VAL, AT(containers) },
	{ "env", FIELD_ENUM, AT(env), .names = &env_names },
	{ "ports", FIELD_VAL, AT(ports) },
	{ "own", FIELD_VAL, AT(own) },
	{ "default", FIELD_VAL, AT(by_default) },
	{ "chief", FIELD_VAL, AT(chief) },
	{ "fields", FIELD_VAL, AT(fields) },
};
#undef AT
static const struct decode_table role_table = TABLE_OF(role_fields);

/* Under a name of the kind's it is the user who left it out. */
static void missing_count(const struct decode *d)
{
	problem_error(d->p, place_path(d->at, STR("count"), d->p->arena), "is missing");
	if (!json_get(d->at.fields, "count"))
		decode_blame(d->p, d->at, STR("count"), "has no \"count\"");
}

static struct role_doc read_role(yyjson_val *val, size_t i, struct problems *p)
{
	struct role_doc doc = { .role = { .min = -1, .max = -1 } };
	struct str name = text_shown(json_str(json_get(val, "name")), p->arena);
	struct policy_place at = { json_str(json_get(val, "path")), json_get(val, "fields"),
		                   name.n ? arena_printf(p->arena, "role \"%.*s\"", STR_F(name))
		                          : arena_printf(p->arena, "roles[%zu]", i + 1) };
	struct decode d = { p, at, true, true };
	yyjson_val *count = json_get(val, "count");

	if (!d.at.path.n)
		d.at.path = arena_printf(p->arena, "spec.roles[%zu]", i);
	decode_object(&d, &role_table, val, &doc, NULL);
	if (yyjson_is_obj(val) && (!count || yyjson_is_null(count)))
		missing_count(&d);
	if (!doc.role.title.n)
		doc.role.title = doc.role.name;
	doc.role.path = d.at.path;
	doc.role.count_path = place_path(d.at, STR("count"), p->arena);
	doc.role.env_everywhere = doc.env == 1;
	doc.at = d.at;
	template_read(&doc, p);
	return doc;
}

static void blame_roles(yyjson_val *list, struct problems *p)
{
	problem_error(p, STR("spec"), "roles must be a list, found %s", json_type_name(list));
	decode_blame(p, (struct policy_place){ 0 }, STR("roles"), "\"roles\" must be a list, found %s",
	             json_type_name(list));
}

static struct role_doc *read_roles(struct job *job, yyjson_val *list, struct problems *p)
{
	size_t n = MIN(yyjson_arr_size(list), (size_t)JOB_MAX_ROLES), room = n + COMPANION_COUNT;
	struct role_doc *docs = arena_array(p->arena, struct role_doc, room);

	/* Lua's empty table may come as an empty object: no roles. */
	if (list && !yyjson_is_arr(list) && !(yyjson_is_obj(list) && yyjson_obj_size(list) == 0))
		blame_roles(list, p);
	if (yyjson_arr_size(list) > n)
		problem_error(p, STR("spec"), "has %zu roles; at most %d are allowed", yyjson_arr_size(list),
		              JOB_MAX_ROLES);
	job->roles = arena_array(p->arena, struct role, room);
	job->n_roles = n;
	for (size_t i = 0; i < n; i++) {
		docs[i] = read_role(yyjson_arr_get(list, i), i, p);
		job->roles[i] = docs[i].role;
	}
	return docs;
}

/* The user's policy for each role, from policy.roles. */
static struct policy *read_user_roles(const struct job *job, const struct policy *user, struct problems *p)
{
	struct policy *ret = arena_array(p->arena, struct policy, job->n_roles);
	struct policy_place at = { .path = place_path(user->at, STR("roles"), p->arena) };
	yyjson_obj_iter iter;
	yyjson_val *key;

	if (!user->roles)
		return ret;
	if (!yyjson_is_obj(user->roles)) {
		problem_error(p, at.path, "must be an object with a role's name for each key, found %s",
		              json_type_name(user->roles));
		return ret;
	}
	yyjson_obj_iter_init(user->roles, &iter);
	while ((key = yyjson_obj_iter_next(&iter))) {
		struct str name = json_str(key);
		struct policy_place here = { .path = place_path(at, text_shown(name, p->arena), p->arena) };
		size_t i = role_index(job, name);

		if (i == job->n_roles)
			problem_error(p, here.path, "there is no such role%.*s",
			              STR_F(text_hint(name, "the roles are", role_titles(job, p->arena), job->n_roles,
			                              p->arena)));
		else if (ret[i].at.path.n)
			problem_error(p, here.path, "names the same role as %.*s", STR_F(ret[i].at.path));
		else
			policy_read(&ret[i], yyjson_obj_iter_get_val(key), here, POLICY_ROLE, POLICY_USER, p);
	}
	return ret;
}

/* Said for the job, useless if it is so for every role. */
static void warn_limit(const struct job *job, const struct policy *doc, struct problems *p)
{
	if (!(doc->said & SAID_LIMIT) || doc->restart.limit == 0)
		return;
	for (size_t i = 0; i < job->n_roles; i++)
		if (!job->roles[i].aux && job->roles[i].restart.policy != RESTART_NEVER)
			return;
	problem_warning(p, place_path(doc->at, STR("restart.limit"), p->arena),
	                "has no effect: the restart policy is Never");
}

/* What the kind says about one role. */
struct role_policies {
	struct policy own, by_default, chief;
};

/* A companion is kept running whatever happens; only the pace is the user's. */
static void settle_role(struct role *role, const struct policy_layers *layers, struct problems *p)
{
	struct restart pace;

	if (!role->companion) {
		policy_settle_role(role, layers, p);
		return;
	}
	pace = policy_settle_restart(layers);
	role->restart = (struct restart){ .policy = RESTART_ALWAYS,
		                          .scope = SCOPE_POD,
		                          .limit = -1,
		                          .backoff_initial = pace.backoff_initial,
		                          .backoff_max = pace.backoff_max };
	role->complete = role->fail = END_NONE;
}

static void read_policies(struct job *job, const struct job_doc *doc, struct role_doc *docs, yyjson_val *policy,
                          struct str policy_path, struct problems *p)
{
	struct policy_place spec = { .path = STR("spec"), .fields = doc->fields }, chief_at;
	struct policy user, own, by_default, *user_roles;
	struct role_policies *roles;
	struct policy_layers *layers;
	struct str chief;

	policy_read(&user, policy, (struct policy_place){ .path = policy_path }, POLICY_JOB, POLICY_USER, p);
	policy_read(&own, doc->own, spec, POLICY_JOB, POLICY_KIND, p);
	policy_read(&by_default, doc->by_default, spec, POLICY_JOB, POLICY_DEFAULT, p);
	policy_conflicts(&user, &own, POLICY_JOB, p);
	companions_add(job, docs, doc->companions, &user, &own, &by_default, p);
	roles = arena_array(p->arena, struct role_policies, job->n_roles);
	layers = arena_array(p->arena, struct policy_layers, job->n_roles);
	user_roles = read_user_roles(job, &user, p);
	for (size_t i = 0; i < job->n_roles; i++) {
		policy_read(&roles[i].own, docs[i].own, docs[i].at, POLICY_ROLE, POLICY_KIND, p);
		policy_read(&roles[i].by_default, docs[i].by_default, docs[i].at, POLICY_ROLE, POLICY_DEFAULT, p);
		policy_read(&roles[i].chief, docs[i].chief, docs[i].at, POLICY_ROLE, POLICY_DEFAULT, p);
		policy_conflicts(&user_roles[i], &roles[i].own, POLICY_ROLE, p);
		layers[i] = (struct policy_layers){ {
			[LAYER_USER_ROLE] = &user_roles[i],
			[LAYER_OWN_ROLE] = &roles[i].own,
			[LAYER_USER_JOB] = &user,
			[LAYER_OWN_JOB] = &own,
			[LAYER_DEFAULT_ROLE] = &roles[i].by_default,
			[LAYER_DEFAULT_JOB] = &by_default,
		} };
		settle_role(&job->roles[i], &layers[i], p);
	}
	chief = policy_settle_job(job, &user, &own, &by_default, &chief_at);
	if (job->complete == JOB_END_CHIEF && chief_find(job, chief, chief_at, p)) {
		layers[job->chief_role].v[LAYER_DEFAULT_CHIEF] = &roles[job->chief_role].chief;
		job->chief_restart = policy_settle_restart(&layers[job->chief_role]);
	}
	scheduling_check(job, user.at, p);
	start_after_read(job, user.start_after, user.at, p);
	warn_limit(job, &user, p);
	warn_limit(job, &own, p);
}

struct job *job_read(struct arena *a, const struct job_identity *id, yyjson_val *doc, yyjson_val *policy,
                     struct str policy_path, yyjson_val *annotations)
{
	struct job *job = arena_new(a, struct job);
	struct problems *p = &job->problems;
	struct decode d = { p, { .path = STR_INIT("spec") }, true, true };
	struct job_doc top = { 0 };
	struct role_doc *docs;

	*job = (struct job){ .kind = id->kind,
		             .ns = id->ns,
		             .name = id->name,
		             .uid = id->uid,
		             .created = id->created,
		             .generation = id->generation,
		             .deleting = id->deleting,
		             .problems.arena = a };
	if (!policy_path.n)
		policy_path = STR("spec.policy");
	if (doc)
		decode_object(&d, &job_table, doc, &top, NULL);
	docs = read_roles(job, top.roles, p);
	read_policies(job, &top, docs, policy, policy_path, p);
	external_read(job, id, annotations);
	job_validate(job, docs, p);
	return job;
}

bool job_fields_have(bool of_role, struct str key, struct str *ret_near)
{
	const struct decode_table *tables[] = { of_role ? &role_table : &job_table,
		                                &policy_tables[of_role ? POLICY_ROLE : POLICY_JOB] };
	struct str names[ARRAY_LEN(role_fields) + 20];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		if (decode_has_key(tables[i], key))
			return true;
		for (size_t k = 0; k < tables[i]->n && n < ARRAY_LEN(names); k++)
			if (tables[i]->v[k].who != FIELD_OF_USERS)
				names[n++] = str_c(tables[i]->v[k].name);
	}
	*ret_near = text_nearest(key, names, n);
	return false;
}
