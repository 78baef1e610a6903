/* What all companions have in common: what may be said of one and where, its pod, which passes the `restricted` pod
   security standard, and its role. A kind says no more than what its children are called. */
#include "job/companion.h"

#include "base/buf.h"
#include "base/json.h"
#include "job/companion_make.h"
#include "job/read.h"

enum { COMPANION_USER = 65532, TEMPLATE_MAX = 4 << 20 };

static const struct companion_make *const makes[COMPANION_COUNT] = { [COMPANION_TENSORBOARD] = &companion_tensorboard };

const struct companion_type *companion_type(enum companion_id id)
{
	ASSERT(id < COMPANION_COUNT);
	return &makes[id]->type;
}

enum companion_id companion_named(struct str name)
{
	enum companion_id id = 0;

	while (id < COMPANION_COUNT && !str_eqc(name, makes[id]->type.name))
		id++;
	return id;
}

const struct companion_type *companion_of_pod(yyjson_val *pod)
{
	yyjson_val *annotations = json_at(pod, "metadata", "annotations", NULL);

	for (enum companion_id id = 0; id < COMPANION_COUNT; id++)
		if (json_get(annotations, makes[id]->type.annotation))
			return &makes[id]->type;
	return NULL;
}

struct str companion_tmp(const struct companion_type *t, struct arena *a)
{
	return arena_printf(a, "%s-tmp", t->name);
}

/* --- what is said of it, and where --- */

/* A list of objects, kept as it is. */
static bool read_objects(const struct decode *d, yyjson_val *val, yyjson_val **ret, const struct decode_spot *s)
{
	struct str path = spot_path(d, s);
	yyjson_arr_iter iter;
	yyjson_val *one;

	/* Lua cannot tell an empty list from an empty object. */
	if (d->by_kind && yyjson_is_obj(val) && yyjson_obj_size(val) == 0)
		return false;
	if (!yyjson_is_arr(val)) {
		problem_error(d->p, path, "must be a list, found %s", json_type_name(val));
		return false;
	}
	yyjson_arr_iter_init(val, &iter);
	while ((one = yyjson_arr_iter_next(&iter))) {
		if (yyjson_is_obj(one))
			continue;
		problem_error(d->p, arena_printf(d->p->arena, "%.*s[%zu]", STR_F(path), iter.idx - 1),
		              "must be an object, found %s", json_type_name(one));
		return false;
	}
	*ret = val;
	return true;
}

bool companion_read_volumes(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s)
{
	return read_objects(d, val, &((struct companion_policy *)base)->volumes, s);
}

bool companion_read_mounts(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s)
{
	return read_objects(d, val, &((struct companion_policy *)base)->mounts, s);
}

bool companion_read(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s)
{
	enum companion_id id = companion_named(s->name);
	struct companion_policy *c;

	if (id == COMPANION_COUNT)
		return false;
	c = &((struct policy *)base)->companions[id];
	c->wanted = true;
	decode_object(d, &makes[id]->fields, val, c, s);
	return true;
}

static enum companion_id id_of(const struct companion_docs *docs)
{
	return companion_named(str_c(docs->make->type.name));
}

static const struct companion_policy *said_by(const struct companion_docs *docs, const struct policy *who)
{
	return &who->companions[id_of(docs)];
}

static struct str path_in(const struct companion_docs *docs, const struct policy *who, const char *field)
{
	struct arena *a = docs->p->arena;

	return place_path(who->at, arena_printf(a, "%s%s%s", docs->make->type.name, *field ? "." : "", field), a);
}

static const char *field_name(const struct companion_docs *docs, unsigned said)
{
	for (size_t i = 0; i < docs->make->fields.n; i++)
		if (docs->make->fields.v[i].said == said)
			return docs->make->fields.v[i].name;
	return "";
}

struct str companion_path(const struct companion_docs *docs, unsigned said)
{
	const struct companion_policy *user = said_by(docs, docs->user), *own = said_by(docs, docs->own);
	const struct policy *who = user->said & said ? docs->user : own->said & said ? docs->own : NULL;

	if (!who)
		who = user->wanted ? docs->user : docs->own;
	return path_in(docs, who, field_name(docs, said));
}

bool companion_is_told(const struct companion_docs *docs, unsigned said)
{
	struct str path = companion_path(docs, said);

	for (size_t i = 0; i < docs->p->list.n; i++)
		if (str_eq(docs->p->list.v[i].path, path))
			return true;
	return false;
}

/* --- three documents become one --- */

/* Its fields are texts, times, choices and lists. */
static size_t size_of(const struct decode_field *f)
{
	switch (f->type) {
	case FIELD_STR:
		return sizeof(struct str);
	case FIELD_INT64:
		return sizeof(int64_t);
	case FIELD_ENUM:
		return sizeof(unsigned);
	case FIELD_READ:
		return sizeof(yyjson_val *);
	case FIELD_BOOL:
	case FIELD_INT32:
	case FIELD_VAL:
	case FIELD_TABLE:
		break;
	}
	BUG("companion's field %s", f->name);
}

static bool same_field(const struct decode_field *f, const struct companion_policy *a, const struct companion_policy *b)
{
	const char *at_a = (const char *)a + f->offset, *at_b = (const char *)b + f->offset;

	if (f->type == FIELD_STR)
		return str_eq(*(const struct str *)at_a, *(const struct str *)at_b);
	if (f->type == FIELD_READ)
		return json_eq(*(yyjson_val *const *)at_a, *(yyjson_val *const *)at_b);
	return memcmp(at_a, at_b, size_of(f)) == 0;
}

static void report_conflicts(const struct companion_docs *docs)
{
	const struct companion_policy *user = said_by(docs, docs->user), *own = said_by(docs, docs->own);

	for (size_t i = 0; i < docs->make->fields.n; i++) {
		const struct decode_field *f = &docs->make->fields.v[i];

		if ((user->said & own->said & f->said) && !same_field(f, user, own))
			problem_error(docs->p, path_in(docs, docs->user, f->name),
			              "differs from %.*s; set only one of them",
			              STR_F(path_in(docs, docs->own, f->name)));
	}
}

/* Of each thing, what the nearest document says. */
static struct companion_policy settle(const struct companion_docs *docs)
{
	const struct policy *const far_first[] = { docs->by_default, docs->own, docs->user };
	struct companion_policy ret = { .image = str_c(docs->make->image), .ttl = -1 };

	for (size_t l = 0; l < ARRAY_LEN(far_first); l++) {
		const struct companion_policy *from = said_by(docs, far_first[l]);

		for (size_t i = 0; i < docs->make->fields.n; i++) {
			const struct decode_field *f = &docs->make->fields.v[i];

			if (from->said & f->said)
				memcpy((char *)&ret + f->offset, (const char *)from + f->offset, size_of(f));
		}
	}
	return ret;
}

/* --- what is wrong with it --- */

static bool has_name(yyjson_val *list, struct str name, size_t before)
{
	for (size_t i = 0; i < MIN(before, yyjson_arr_size(list)); i++)
		if (str_eq(json_str(json_get(yyjson_arr_get(list, i), "name")), name))
			return true;
	return false;
}

static void check_volumes(const struct companion_policy *c, const struct companion_docs *docs)
{
	const struct companion_type *t = &docs->make->type;
	struct str path = companion_path(docs, COMPANION_VOLUMES);
	struct problems *p = docs->p;
	size_t i, n;
	yyjson_val *one;

	yyjson_arr_foreach(c->volumes, i, n, one)
	{
		struct str name = json_str(json_get(one, "name"));
		struct str at = arena_printf(p->arena, "%.*s[%zu].name", STR_F(path), i);

		if (!str_is_dns_label(name, false))
			problem_error(p, at, "must be a DNS label (lower case letters, digits, '-', at most 63)");
		else if (str_eq(name, companion_tmp(t, p->arena)))
			problem_error(p, at, "is the name of a volume that %s already has", t->title);
		else if (has_name(c->volumes, name, i))
			problem_error(p, at, "there is another volume named \"%.*s\"", STR_F(name));
	}
}

static void check_mounts(const struct companion_policy *c, const struct companion_docs *docs)
{
	struct str path = companion_path(docs, COMPANION_MOUNTS);
	struct problems *p = docs->p;
	size_t i, n;
	yyjson_val *one;

	yyjson_arr_foreach(c->mounts, i, n, one)
	{
		struct str name = json_str(json_get(one, "name"));

		if (!has_name(c->volumes, name, SIZE_MAX))
			problem_error(p, arena_printf(p->arena, "%.*s[%zu].name", STR_F(path), i),
			              "there is no volume named \"%.*s\" in its volumes",
			              STR_F(text_shown(name, p->arena)));
		if (!json_str(json_get(one, "mountPath")).n)
			problem_error(p, arena_printf(p->arena, "%.*s[%zu].mountPath", STR_F(path), i),
			              "must not be empty");
	}
}

static void check(const struct companion_policy *c, const struct companion_docs *docs)
{
	docs->make->check(c, docs);
	if (!str_trim(c->image).n)
		problem_error(docs->p, companion_path(docs, COMPANION_IMAGE), "must not be empty");
	check_volumes(c, docs);
	check_mounts(c, docs);
}

/* --- its template --- */

/* The user's own, as JSON, without the closing bracket. */
static void put_list(struct buf *out, const char *key, yyjson_val *list)
{
	size_t i, n;
	yyjson_val *one;

	buf_printf(out, ",\"%s\":[", key);
	yyjson_arr_foreach(list, i, n, one)
	{
		if (i)
			buf_putc(out, ',');
		json_write_val(one, out);
	}
}

/* Does the user mount something there himself? */
static bool covers_tmp(yyjson_val *mounts)
{
	size_t i, n;
	yyjson_val *one;

	yyjson_arr_foreach(mounts, i, n, one)
	{
		struct str path = json_str(json_get(one, "mountPath"));

		while (path.n > 1 && path.p[path.n - 1] == '/')
			path.n--;
		if (str_eqc(path, "/tmp"))
			return true;
	}
	return false;
}

/* NAME: its own, TMP: of the volume at /tmp, unless the user has one. */
static void put_container(struct buf *out, const struct companion_make *make, const struct companion_policy *c,
                          struct str name, struct str tmp)
{
	int port = make->type.port;

	buf_put(out, STR(",\"containers\":[{\"name\":"));
	buf_json_str(out, name);
	buf_put(out, STR(",\"image\":"));
	buf_json_str(out, c->image);
	buf_put(out, STR(",\"command\":["));
	make->put_command(out, c);
	buf_printf(out, ",\"%s\",\"0.0.0.0\",\"%s\",\"%d\"],\"ports\":[{\"containerPort\":%d}]", make->type.host_flag,
	           make->type.port_flag, port, port);
	/* It has no home, and its root is read-only. */
	buf_put(out, STR(",\"env\":[{\"name\":\"HOME\",\"value\":\"/tmp\"}]"));
	buf_printf(out,
	           ",\"readinessProbe\":{\"httpGet\":{\"path\":\"/\",\"port\":%d},\"periodSeconds\":5,"
	           "\"timeoutSeconds\":5}",
	           port);
	buf_put(out, STR(",\"securityContext\":{\"allowPrivilegeEscalation\":false,\"readOnlyRootFilesystem\":true,"
	                 "\"capabilities\":{\"drop\":[\"ALL\"]}}"));
	put_list(out, "volumeMounts", c->mounts);
	if (tmp.n)
		buf_printf(out, "%s{\"name\":\"%.*s\",\"mountPath\":\"/tmp\"}", yyjson_arr_size(c->mounts) ? "," : "",
		           STR_F(tmp));
	buf_put(out, STR("]}]"));
}

static void put_template(struct buf *out, const struct companion_make *make, const struct companion_policy *c,
                         struct str name, struct arena *a)
{
	struct str tmp = covers_tmp(c->mounts) ? STR_NONE : companion_tmp(&make->type, a);

	buf_printf(out, "{\"metadata\":{\"annotations\":{\"%s\":", make->type.annotation);
	buf_json_str(out, make->annotation(c));
	buf_printf(out,
	           "}},\"spec\":{\"automountServiceAccountToken\":false,\"securityContext\":{\"runAsNonRoot\":true,"
	           "\"runAsUser\":%d,\"runAsGroup\":%d,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}",
	           COMPANION_USER, COMPANION_USER);
	put_list(out, "volumes", c->volumes);
	if (tmp.n)
		buf_printf(out, "%s{\"name\":\"%.*s\",\"emptyDir\":{}}", yyjson_arr_size(c->volumes) ? "," : "",
		           STR_F(tmp));
	buf_putc(out, ']');
	put_container(out, make, c, name, tmp);
	buf_put(out, STR("}}"));
}

/* The tree of TEXT, in A; NULL: it does not fit. */
static yyjson_val *tree_of(struct buf *text, struct arena *a)
{
	size_t room = yyjson_read_max_memory_usage(text->n, 0);
	yyjson_alc alc;
	yyjson_doc *doc;

	if (text->overflow || !yyjson_alc_pool_init(&alc, arena_raw(a, room), room))
		return NULL;
	doc = yyjson_read_opts(text->p, text->n, 0, &alc, NULL);
	ASSERT(doc);
	return yyjson_doc_get_root(doc);
}

/* --- the role --- */

static bool has_only_texts(yyjson_val *labels)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(labels);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&it)))
		if (!yyjson_is_str(yyjson_obj_iter_get_val(key)))
			return false;
	return !labels || yyjson_is_obj(labels);
}

static const struct companion *companion_of(const struct companion_docs *docs, const struct companion_policy *c,
                                            yyjson_val *says)
{
	struct companion *ret = arena_new(docs->p->arena, struct companion);
	yyjson_val *labels = json_get(says, "labels");

	if (!has_only_texts(labels)) {
		problem_error(docs->p, STR("spec"), "%s.labels must be an object of strings", docs->make->type.name);
		labels = NULL;
	}
	*ret = (struct companion){ id_of(docs), json_str(json_get(says, "name")), labels, c->service, c->ttl };
	return ret;
}

static struct role_doc role_of(const struct companion_docs *docs, const struct companion_policy *c,
                               const struct companion *companion)
{
	const struct companion_type *t = &docs->make->type;
	struct str path = companion_path(docs, 0), name = str_c(t->name);
	struct port *port = arena_new(docs->p->arena, struct port);
	struct buf text = BUF_INIT(TEMPLATE_MAX);
	struct role_doc doc = { .said = HAS_COUNT, .at = { path, NULL } };

	put_template(&text, docs->make, c, str_is_dns_label(companion->name, false) ? companion->name : name,
	             docs->p->arena);
	doc.role = (struct role){ .name = name,
		                  .title = name,
		                  .path = path,
		                  .count_path = path,
		                  .count = 1,
		                  .min = -1,
		                  .max = -1,
		                  .aux = true,
		                  .service = true,
		                  .template = tree_of(&text, docs->p->arena),
		                  .companion = companion };
	if (text.overflow)
		problem_error(docs->p, path, "is too large");
	else
		template_read(&doc, docs->p);
	*port = (struct port){ str_c(t->port_name), COMPANION_SERVICE_PORT };
	doc.role.ports = port;
	doc.role.n_ports = 1;
	buf_release(&text);
	return doc;
}

static void add_one(struct job *job, struct role_doc *docs, yyjson_val *says, const struct companion_docs *said)
{
	struct companion_policy c = settle(said);
	size_t errors = said->p->errors;

	report_conflicts(said);
	check(&c, said);
	if (job->n_roles == JOB_MAX_ROLES)
		problem_error(said->p, companion_path(said, 0), "the job already has %d roles", JOB_MAX_ROLES);
	if (said->p->errors > errors)
		return;
	docs[job->n_roles] = role_of(said, &c, companion_of(said, &c, says));
	job->roles[job->n_roles] = docs[job->n_roles].role;
	job->n_roles++;
}

void companions_add(struct job *job, struct role_doc *docs, yyjson_val *const *says, const struct policy *user,
                    const struct policy *own, const struct policy *by_default, struct problems *p)
{
	for (enum companion_id id = 0; id < COMPANION_COUNT; id++)
		if (user->companions[id].wanted || own->companions[id].wanted)
			add_one(job, docs, says[id], &(struct companion_docs){ makes[id], user, own, by_default, p });
}
