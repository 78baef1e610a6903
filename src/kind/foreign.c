/* Kinds that are known only from a cluster: their Lua is not here, and Lua from a cluster is never run. What their jobs
   look like is what the operator has written into their status. */
#include "kind/internal.h"

static bool is_known(const struct kinds *k, const struct kind *kind)
{
	for (size_t i = 0; i < k->files.n; i++) {
		const struct kind *c = &k->files.v[i]->kind;

		if (str_eq(c->group, kind->group) && (str_eq(c->kind, kind->kind) || str_eq(c->plural, kind->plural)))
			return true;
	}
	return false;
}

bool kinds_add_foreign(struct kinds *k, const struct kind *what)
{
	struct kind_file *f;
	struct str *shorts;

	if (is_known(k, what))
		return false;
	f = arena_new(&k->arena, struct kind_file);
	shorts = arena_array(&k->arena, struct str, what->n_short_names);
	for (size_t i = 0; i < what->n_short_names; i++)
		shorts[i] = arena_str(&k->arena, what->short_names[i]);
	f->kind = (struct kind){
		.id = arena_printf(&k->arena, "%.*s.%.*s", STR_F(what->kind), STR_F(what->group)),
		.group = arena_str(&k->arena, what->group),
		.version = arena_str(&k->arena, what->version),
		.kind = arena_str(&k->arena, what->kind),
		.plural = arena_str(&k->arena, what->plural),
		.singular = arena_str(&k->arena, what->singular),
		.short_names = shorts,
		.n_short_names = what->n_short_names,
		.foreign = true,
		.file = STR("the cluster"),
	};
	for (int i = 0; i < FN_COUNT; i++)
		f->fns[i] = LUA_NOREF;
	f->spec.type = SCHEMA_ANY;
	*vec_push(&k->arena, &k->files) = f;
	return true;
}

/* --- what the operator notes for it --- */

static void put_flag(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, bool set)
{
	json_mut_put(doc, obj, str_c(key), set ? yyjson_mut_true(doc) : yyjson_mut_null(doc));
}

/* Those whose exit codes count: their logs are the replica's. */
static yyjson_mut_val *counting(const struct role *r, yyjson_mut_doc *doc)
{
	yyjson_mut_val *list = yyjson_mut_arr(doc);

	for (size_t i = 0; i < r->n_containers; i++)
		if (r->containers[i].counts && !r->containers[i].init)
			yyjson_mut_arr_append(list, json_mut_str(doc, r->containers[i].name));
	return list;
}

void foreign_note_roles(const struct job *job, yyjson_mut_val *record, yyjson_mut_doc *doc)
{
	yyjson_mut_val *roles = yyjson_mut_obj_get(record, "roles");

	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *r = &job->roles[i];
		yyjson_mut_val *obj = yyjson_mut_obj_getn(roles, str_text(r->name), r->name.n);
		bool scales = !r->aux && r->count_path.n;

		if (!obj)
			continue;
		json_mut_put(doc, obj, STR("replicas"), yyjson_mut_int(doc, r->count));
		json_mut_put(doc, obj, STR("title"),
		             str_eq(r->title, r->name) ? yyjson_mut_null(doc) : json_mut_str(doc, r->title));
		json_mut_put(doc, obj, STR("countPath"),
		             scales ? json_mut_str(doc, r->count_path) : yyjson_mut_null(doc));
		json_mut_put(doc, obj, STR("containers"), counting(r, doc));
		put_flag(doc, obj, "elastic", r->elastic);
		put_flag(doc, obj, "aux", r->aux);
	}
}

/* --- and what can be read of it --- */

static int32_t count_of(yyjson_val *role)
{
	int64_t n = 0;

	/* An operator that is older than this note has only the size of the last look. */
	if (!json_int(json_get(role, "replicas"), &n))
		json_int(json_get(role, "count"), &n);
	return (int32_t)MAX(MIN(n, (int64_t)JOB_MAX_REPLICAS), (int64_t)0);
}

static void read_containers(struct role *role, yyjson_val *list, struct arena *a)
{
	struct template_container *all = arena_array(a, struct template_container, yyjson_arr_size(list));
	yyjson_arr_iter it = yyjson_arr_iter_with(list);
	yyjson_val *one;

	role->containers = all;
	while ((one = yyjson_arr_iter_next(&it)))
		all[role->n_containers++] = (struct template_container){ .name = json_str(one), .counts = true };
}

static void read_roles(struct job *job, yyjson_val *roles, struct arena *a)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(roles);
	yyjson_val *key;

	job->roles = arena_array(a, struct role, MIN(yyjson_obj_size(roles), (size_t)JOB_MAX_ROLES));
	while ((key = yyjson_obj_iter_next(&it)) && job->n_roles < JOB_MAX_ROLES) {
		yyjson_val *role = yyjson_obj_iter_get_val(key);
		struct str title = json_str(json_get(role, "title"));

		job->roles[job->n_roles++] = (struct role){
			.name = json_str(key),
			.title = title.n ? title : json_str(key),
			.count = count_of(role),
			.count_path = json_str(json_get(role, "countPath")),
			.min = -1,
			.max = -1,
			.elastic = yyjson_is_true(json_get(role, "elastic")),
			.aux = yyjson_is_true(json_get(role, "aux")),
		};
		read_containers(&job->roles[job->n_roles - 1], json_get(role, "containers"), a);
	}
}

void foreign_read(struct kind_job *kj, const struct job_identity *id)
{
	struct job *job = arena_new(&kj->arena, struct job);

	*job = (struct job){ .kind = id->kind,
		             .ns = id->ns,
		             .name = id->name,
		             .uid = id->uid,
		             .created = id->created,
		             .generation = id->generation,
		             .deleting = id->deleting,
		             .complete = JOB_END_ALL,
		             .time_limit = -1,
		             .active_deadline = -1,
		             .running_deadline = -1,
		             .ttl = -1,
		             .suspend = yyjson_is_true(json_at(kj->object, "spec", "policy", "suspend", NULL)),
		             .problems.arena = &kj->arena };
	read_roles(job, json_at(kj->object, "status", "dlOperator", "roles", NULL), &kj->arena);
	kj->job = job;
}
