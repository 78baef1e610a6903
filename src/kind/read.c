/* A manifest becomes a job: the schema first, then the kind's read(), then the common reader, then
   the children's names and variables. */
#include "base/yaml.h"
#include "job/decode.h"
#include "kind/gang.h"
#include "kind/path.h"

enum { SCHEMA_FIELDS_TOP = 5 };

/* --- calling into the kind --- */

int kind_push_call(struct kind_job *kj, enum kind_fn fn, size_t role, int32_t index)
{
	lua_State *L = kj->kinds->sb.L;

	ASSERT(!kj->file->kind.foreign);
	luaL_checkstack(L, LUA_MINSTACK, NULL);
	lua_rawgeti(L, LUA_REGISTRYINDEX, kj->file->fns[fn]);
	lua_rawgeti(L, LUA_REGISTRYINDEX, kj->ref);
	if (role == SIZE_MAX)
		return 1;
	lua_pushliteral(L, "roles");
	lua_rawget(L, -2);
	lua_rawgeti(L, -1, (lua_Integer)role + 1);
	lua_remove(L, -2);
	lua_pushinteger(L, index);
	return 3;
}

bool kind_call(struct kind_job *kj, enum kind_fn fn, int nargs, int nresults, struct err *e)
{
	return sandbox_call(&kj->kinds->sb, nargs, nresults, kj->file->kind.file, kind_fn_names[fn], e);
}

/* --- metadata --- */

static struct job_identity read_identity(const struct kind_file *file, yyjson_val *object, struct str uid)
{
	yyjson_val *meta = json_get(object, "metadata");
	struct job_identity id = { .kind = file->kind.id,
		                   .end_words = file->kind.end_words,
		                   .n_end_words = file->kind.n_end_words };
	int64_t generation = 0;

	id.ns = json_str(json_get(meta, "namespace"));
	if (!id.ns.n)
		id.ns = STR("default");
	id.name = json_str(json_get(meta, "name"));
	id.uid = json_str(json_get(meta, "uid"));
	if (!id.uid.n)
		id.uid = uid;
	time_parse(json_str(json_get(meta, "creationTimestamp")), &id.created);
	if (json_int(json_get(meta, "generation"), &generation))
		id.generation = generation;
	id.deleting = json_str(json_get(meta, "deletionTimestamp")).n > 0;
	return id;
}

static void set_str(struct sandbox *sb, const char *key, struct str s)
{
	value_push_str(sb, s);
	lua_setfield(sb->L, -2, key);
}

static void push_meta(struct sandbox *sb, const struct job_identity *id)
{
	lua_newtable(sb->L);
	set_str(sb, "name", id->name);
	set_str(sb, "namespace", id->ns);
	set_str(sb, "uid", id->uid);
}

/* Fields beside metadata and spec that look like one of them. */
static void check_top(yyjson_val *object, struct problems *p)
{
	static const struct str known[SCHEMA_FIELDS_TOP] = { STR_INIT("apiVersion"), STR_INIT("kind"),
		                                             STR_INIT("metadata"), STR_INIT("spec"),
		                                             STR_INIT("status") };
	yyjson_obj_iter it = yyjson_obj_iter_with(object);
	yyjson_val *k;

	while ((k = yyjson_obj_iter_next(&it))) {
		struct str key = json_str(k), hint;
		bool found = false;

		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			found = found || str_eq(key, known[i]);
		if (found)
			continue;
		hint = text_nearest(key, known, ARRAY_LEN(known));
		if (hint.n)
			problem_error(p, path_key(p->arena, STR_NONE, key), "unknown field, did you mean `%.*s`?",
			              STR_F(hint));
		else
			problem_warning(p, path_key(p->arena, STR_NONE, key), "unknown field, it is ignored");
	}
}

/* Has an operator already brought it up, ours or the one that it is taken over from? Then only an edit of what is wrong
   may hold it up, and no check that a newer version of us has and the one that started it had not. */
static bool has_started(yyjson_val *object)
{
	yyjson_val *status = json_get(object, "status"), *record = json_get(status, "dlOperator");

	if (!record)
		return yyjson_is_obj(status) && yyjson_obj_size(status) > 0;
	return json_str(json_get(record, "startTime")).n && !str_eqc(json_str(json_get(record, "phase")), "Invalid");
}

/* --- the policy --- */

struct policy_doc {
	yyjson_val *val;
	struct str path;
};

static const struct str annotation_path = STR_INIT("metadata.annotations[\"" ANNOTATION_POLICY "\"]");

static struct policy_doc find_policy(struct kind_job *kj, struct problems *p)
{
	yyjson_val *text = json_get(json_at(kj->object, "metadata", "annotations", NULL), ANNOTATION_POLICY);
	struct err e = ERR_INIT;

	if (!kj->file->kind.spec_is_array) {
		if (text)
			problem_warning(p, annotation_path, "is ignored: this kind has spec.policy");
		return (struct policy_doc){ json_get(json_get(kj->object, "spec"), "policy"), STR("spec.policy") };
	}
	if (!text || yyjson_is_null(text))
		return (struct policy_doc){ NULL, annotation_path };
	if (!yyjson_is_str(text)) {
		problem_error(p, annotation_path, "must be a string with the policy, found %s", json_type_name(text));
		return (struct policy_doc){ NULL, annotation_path };
	}
	kj->policy = yaml_parse(STR("policy"), json_str(text), &e);
	if (!kj->policy)
		problem_error(p, annotation_path, "%s", err_msg(&e));
	else if (yaml_count(kj->policy) > 1)
		problem_error(p, annotation_path, "has more than one document");
	err_release(&e);
	return (struct policy_doc){ kj->policy && yaml_count(kj->policy) ? yaml_root(kj->policy, 0) : NULL,
		                    annotation_path };
}

/* --- the job's document --- */

/* Runs read(). The spec's table is on top of the stack; its second result is left above it. */
static yyjson_doc *call_read(struct kind_job *kj, const struct job_identity *id, struct problems *p, struct err *e)
{
	struct sandbox *sb = &kj->kinds->sb;
	yyjson_mut_doc *doc;
	yyjson_mut_val *root;
	yyjson_doc *ret = NULL;
	bool ok;

	luaL_checkstack(sb->L, LUA_MINSTACK, NULL);
	lua_rawgeti(sb->L, LUA_REGISTRYINDEX, kj->file->fns[FN_READ]);
	lua_pushvalue(sb->L, -2);
	push_meta(sb, id);
	sb->problems = p;
	ok = kind_call(kj, FN_READ, 2, 2, e);
	sb->problems = NULL;
	if (!ok)
		return NULL;
	doc = yyjson_mut_doc_new(NULL);
	root = lua_istable(sb->L, -2) ? value_json(sb, -2, doc, "read", e) : NULL;
	if (root) {
		yyjson_mut_doc_set_root(doc, root);
		ret = yyjson_mut_doc_imut_copy(doc, NULL);
	} else if (!lua_istable(sb->L, -2)) {
		err_set(e, ERR_LUA, "`read` must return a table, it returned a %s", luaL_typename(sb->L, -2));
	}
	yyjson_mut_doc_free(doc);
	if (!ret) {
		kind_blame(kj, e, "read");
		lua_pop(sb->L, 2);
		return NULL;
	}
	lua_remove(sb->L, -2);
	return ret;
}

/* Problems that were found before there was a job go in front of the job's own; what the schema has
   said of a field is not said again. */
static void put_first(struct problems *first, struct problems *all)
{
	struct problems early = *first;

	for (size_t i = 0; i < all->list.n; i++) {
		const struct problem *p = &all->list.v[i];

		if (p->severity == PROBLEM_ERROR && schema_has_error(&early, p->path)) {
			all->errors--;
			continue;
		}
		if (first->list.n < PROBLEMS_MAX)
			*vec_push(first->arena, &first->list) = *p;
		else
			first->dropped++;
	}
	first->errors += all->errors;
	first->dropped += all->dropped;
	*all = *first;
}

/* A job of which nothing could be read but who it is and what is wrong. */
static struct job *nothing_but_problems(struct kind_job *kj, const struct job_identity *id, struct policy_doc policy,
                                        struct problems *p)
{
	struct job *job = arena_new(&kj->arena, struct job);
	struct policy ignored;

	*job = (struct job){ .kind = id->kind,
		             .ns = id->ns,
		             .name = id->name,
		             .uid = id->uid,
		             .created = id->created,
		             .generation = id->generation,
		             .deleting = id->deleting,
		             .complete = JOB_END_ALL,
		             .fail = JOB_END_ANY,
		             .clean = CLEAN_RUNNING,
		             .time_limit = -1,
		             .active_deadline = -1,
		             .running_deadline = -1,
		             .ttl = -1 };
	policy_read(&ignored, policy.val, (struct policy_place){ .path = policy.path }, POLICY_JOB, POLICY_USER, p);
	job->problems = *p;
	return job;
}

/* The spec as Lua sees it is left on the stack. False: not all of it is the user's. */
static bool read_spec(struct kind_job *kj, struct problems *p)
{
	struct schema_read r = { .sb = &kj->kinds->sb, .a = &kj->scratch, .p = p, .object = kj->object };
	yyjson_val *spec = json_get(kj->object, "spec");

	if (!spec) {
		problem_error(p, STR("spec"), "is missing");
		lua_pushnil(r.sb->L);
		return false;
	}
	r.skipped = kj->file->kind.spec_is_array ? STR_NONE : STR("policy");
	schema_push(&r, &kj->file->spec, spec, STR("spec"));
	return !r.broken;
}

static bool is_inside(struct str path, struct str of)
{
	return str_has_prefix(path, of) && (path.n == of.n || path.p[of.n] == '.' || path.p[of.n] == '[');
}

/* The object or list that PATH is a field of; of spec and the like, themselves. */
static struct str parent(struct str path)
{
	size_t n = path.n;

	while (n && path.p[n - 1] != '.' && path.p[n - 1] != '[')
		n--;
	return n ? str_sub(path, 0, n - 1) : path;
}

/* Does what the kind says of PATH perhaps come of what stands beside a mistake, and not of the manifest? */
static bool is_doubtful(const struct problems *found, struct str path)
{
	for (size_t i = 0; i < found->list.n; i++) {
		const struct problem *p = &found->list.v[i];

		if (p->severity == PROBLEM_ERROR && (is_inside(path, parent(p->path)) || is_inside(p->path, path)))
			return true;
	}
	return false;
}

/* What the kind itself says of a spec that its schema does not take: of those parts that are in order. */
static void ask_kind(struct kind_job *kj, const struct job_identity *id, struct problems *found)
{
	struct problems own = { .arena = &kj->arena };
	struct err e = ERR_INIT;
	yyjson_doc *doc = call_read(kj, id, &own, &e);
	size_t n = found->list.n;

	for (size_t i = 0; i < own.list.n; i++) {
		const struct problem *p = &own.list.v[i];
		struct problems before = *found;

		before.list.n = n;
		if (!is_doubtful(&before, p->path))
			problems_add(found, p->severity, p->path, "%.*s", STR_F(p->message));
	}
	if (doc)
		lua_pop(kj->kinds->sb.L, 1);
	yyjson_doc_free(doc);
	err_release(&e);
}

/* Nothing that stands in the manifest is to blame for what read() made up; but it may have gone on after a mistake in
   it, which comes first then. */
static bool is_kinds_fault(const struct kind_job *kj, const struct problems *found, struct err *e)
{
	const struct problems *p = &kj->job->problems;

	if (!p->of_kind.message.n || found->errors)
		return false;
	err_set(e, ERR_LUA, "%.*s:%d: %.*s", STR_F(kj->file->kind.file),
	        kind_line(kj->kinds, kj->file, FN_READ, p->of_kind.word), STR_F(p->of_kind.message));
	return true;
}

static bool read_job(struct kind_job *kj, struct str uid, struct err *e)
{
	struct sandbox *sb = &kj->kinds->sb;
	struct job_identity id = read_identity(kj->file, kj->object, uid);
	struct problems found = { .arena = &kj->arena };
	struct policy_doc policy = find_policy(kj, &found);
	bool readable;

	if (kj->file->kind.foreign) {
		foreign_read(kj, &id);
		return true;
	}
	kj->started = has_started(kj->object);
	check_top(kj->object, &found);
	readable = read_spec(kj, &found);
	if (!readable) {
		if (lua_istable(sb->L, -1))
			ask_kind(kj, &id, &found);
		kj->job = nothing_but_problems(kj, &id, policy, &found);
		lua_pop(sb->L, 1);
		lua_pushnil(sb->L);
		lua_pushnil(sb->L);
		kind_push_job(kj);
		return true;
	}
	kj->doc = call_read(kj, &id, &found, e);
	if (!kj->doc) {
		lua_pop(sb->L, 1);
		return false;
	}
	kj->job = job_read(&kj->arena, &id, yyjson_doc_get_root(kj->doc), policy.val, policy.path,
	                   json_at(kj->object, "metadata", "annotations", NULL));
	if (is_kinds_fault(kj, &found, e) || (!found.errors && !kind_check_field_names(kj, e))) {
		lua_pop(sb->L, 2);
		return false;
	}
	put_first(&found, &kj->job->problems);
	kj->parts = arena_array(&kj->arena, struct pod_parts *, kj->job->n_roles + 1);
	kind_push_job(kj);
	kind_warn_schedulers(kj);
	if (!kind_check_children(kj, e))
		return false;
	kind_read_needs(kj);
	return true;
}

struct kind_job *kind_read(struct kinds *k, const struct kind *kind, yyjson_val *object, struct str uid, struct err *e)
{
	struct kind_job *kj;

	if (!yyjson_is_obj(object)) {
		err_set(e, ERR_INVALID, "not an object");
		return NULL;
	}
	kj = xcalloc(1, sizeof(*kj));
	kj->kinds = k;
	kj->file = kind_file_of(kind);
	kj->accelerators = k->accelerators;
	kj->object = object;
	kj->ref = LUA_NOREF;
	kj->pod_name = (struct buf)BUF_INIT(1024);
	kj->service_name = (struct buf)BUF_INIT(1024);
	k->sb.serial = ++k->serial;
	if (!read_job(kj, uid, e)) {
		kind_job_free(kj);
		kj = NULL;
	}
	/* Templates of this job cannot be passed on any more, and most jobs that were read just run. */
	k->sb.serial = 0;
	if (kj)
		arena_release(&kj->scratch);
	ASSERT(lua_gettop(k->sb.L) == 0);
	return kj;
}

void kind_job_free(struct kind_job *kj)
{
	if (!kj)
		return;
	luaL_unref(kj->kinds->sb.L, LUA_REGISTRYINDEX, kj->ref);
	text_cache_free(kj->cache);
	yyjson_doc_free(kj->doc);
	yaml_close(kj->policy);
	buf_release(&kj->pod_name);
	buf_release(&kj->service_name);
	arena_release(&kj->scratch);
	arena_release(&kj->arena);
	free(kj);
}

const struct job *kind_job(const struct kind_job *kj)
{
	return kj->job;
}

/* --- the job as Lua sees it --- */

static void push_ports(struct sandbox *sb, const struct port *ports, size_t n)
{
	lua_createtable(sb->L, (int)n, 0);
	value_mark_list(sb);
	for (size_t i = 0; i < n; i++) {
		lua_createtable(sb->L, 0, 2);
		set_str(sb, "name", ports[i].name);
		lua_pushinteger(sb->L, ports[i].number);
		lua_setfield(sb->L, -2, "port");
		lua_rawseti(sb->L, -2, (lua_Integer)i + 1);
	}
}

static void push_role(struct sandbox *sb, const struct role *r)
{
	lua_newtable(sb->L);
	set_str(sb, "name", r->name);
	set_str(sb, "title", r->title);
	lua_pushinteger(sb->L, r->count);
	lua_setfield(sb->L, -2, "count");
	lua_pushboolean(sb->L, r->aux);
	lua_setfield(sb->L, -2, "aux");
	push_ports(sb, r->ports, r->n_ports);
	lua_setfield(sb->L, -2, "ports");
}

void kind_push_job(struct kind_job *kj)
{
	struct sandbox *sb = &kj->kinds->sb;
	struct job_identity id = { .name = kj->job->name, .ns = kj->job->ns, .uid = kj->job->uid };
	lua_State *L = sb->L;

	push_meta(sb, &id);
	lua_insert(L, -2);
	lua_setfield(L, -2, "data");
	lua_insert(L, -2);
	lua_setfield(L, -2, "spec");
	lua_newtable(L);
	value_mark_list(sb);
	lua_newtable(L);
	for (size_t i = 0; i < kj->job->n_roles; i++) {
		/* They are the last ones, and none of the kind's. */
		if (kj->job->roles[i].companion)
			continue;
		push_role(sb, &kj->job->roles[i]);
		lua_pushvalue(L, -1);
		lua_rawseti(L, -4, (lua_Integer)i + 1);
		value_push_str(sb, kj->job->roles[i].name);
		lua_insert(L, -2);
		lua_rawset(L, -3);
	}
	lua_setfield(L, -3, "role");
	lua_setfield(L, -2, "roles");
	kj->ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

bool kind_once(struct kind_job *kj, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;

	if (kj->once || kj->file->fns[FN_ONCE] == LUA_NOREF)
		return true;
	if (!kind_call(kj, FN_ONCE, kind_push_call(kj, FN_ONCE, SIZE_MAX, 0), 1, e))
		return false;
	lua_rawgeti(L, LUA_REGISTRYINDEX, kj->ref);
	lua_insert(L, -2);
	lua_setfield(L, -2, "once");
	lua_pop(L, 1);
	kj->once = true;
	return true;
}
