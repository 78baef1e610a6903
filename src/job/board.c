/* TensorBoard for every kind: one more role, whose pod passes the `restricted` pod security standard. Its template is
   made here, so that a kind needs to say no more than how its children are called. */
#include "base/buf.h"
#include "base/json.h"
#include "job/read.h"
#include "object/labels.h"

/* What only this file speaks of. */
#define BOARD_ROLE "tensorboard"
#define BOARD_TMP "tensorboard-tmp"
enum { BOARD_USER = 65532, TEMPLATE_MAX = 4 << 20, LOG_DIR_MAX = 4096 };

/* --- the same thing said in two places --- */

static const struct {
	unsigned said;
	const char *key;
} things[] = {
	{ SAID_BOARD_LOG_DIR, "tensorboard.logDir" },      { SAID_BOARD_IMAGE, "tensorboard.image" },
	{ SAID_BOARD_VOLUMES, "tensorboard.volumes" },     { SAID_BOARD_MOUNTS, "tensorboard.volumeMounts" },
	{ SAID_BOARD_SERVICE, "tensorboard.serviceType" }, { SAID_BOARD_TTL, "tensorboard.ttlSecondsAfterFinished" },
};

static bool same(const struct board_policy *a, const struct board_policy *b, unsigned said)
{
	switch (said) {
	case SAID_BOARD_LOG_DIR:
		return str_eq(a->log_dir, b->log_dir);
	case SAID_BOARD_IMAGE:
		return str_eq(a->image, b->image);
	case SAID_BOARD_VOLUMES:
		return json_eq(a->volumes, b->volumes);
	case SAID_BOARD_MOUNTS:
		return json_eq(a->mounts, b->mounts);
	case SAID_BOARD_SERVICE:
		return a->service == b->service;
	case SAID_BOARD_TTL:
		return a->ttl == b->ttl;
	default:
		BUG("tensorboard field %u", said);
	}
}

static void compare(const struct policy *user, const struct policy *own, struct problems *p)
{
	for (size_t i = 0; i < ARRAY_LEN(things); i++)
		if ((user->said & own->said & things[i].said) && !same(&user->board, &own->board, things[i].said))
			problem_error(p, place_path(user->at, str_c(things[i].key), p->arena),
			              "is not what %.*s says; say it in one place",
			              STR_F(place_path(own->at, str_c(things[i].key), p->arena)));
}

/* --- what is wrong with it --- */

/* The path of a field: where the user said it, else where it would stand. */
static struct str field_path(const struct policy *user, const struct policy *own, unsigned said, const char *key,
                             struct arena *a)
{
	const struct policy *at = user->said & said ? user : own->said & said ? own : NULL;

	if (!at)
		at = user->said & SAID_BOARD ? user : own;
	return place_path(at->at, str_c(key), a);
}

/* What is no text or no list was told when it was read. */
static bool told(const struct problems *p, struct str path)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (str_eq(p->list.v[i].path, path))
			return true;
	return false;
}

static bool has_name(yyjson_val *list, struct str name, size_t before)
{
	for (size_t i = 0; i < MIN(before, yyjson_arr_size(list)); i++)
		if (str_eq(json_str(json_get(yyjson_arr_get(list, i), "name")), name))
			return true;
	return false;
}

static void check_volumes(const struct board_policy *b, struct str path, struct problems *p)
{
	size_t i, n;
	yyjson_val *one;

	yyjson_arr_foreach(b->volumes, i, n, one)
	{
		struct str name = json_str(json_get(one, "name"));
		struct str at = arena_printf(p->arena, "%.*s[%zu].name", STR_F(path), i);

		if (!str_is_dns_label(name, false))
			problem_error(p, at, "must be a DNS label (lower case letters, digits, '-', at most 63)");
		else if (str_eqc(name, BOARD_TMP))
			problem_error(p, at, "is the name of a volume that TensorBoard has already");
		else if (has_name(b->volumes, name, i))
			problem_error(p, at, "there is another volume named \"%.*s\"", STR_F(name));
	}
}

static void check_mounts(const struct board_policy *b, struct str path, struct problems *p)
{
	size_t i, n;
	yyjson_val *one;

	yyjson_arr_foreach(b->mounts, i, n, one)
	{
		struct str name = json_str(json_get(one, "name"));

		if (!has_name(b->volumes, name, SIZE_MAX))
			problem_error(p, arena_printf(p->arena, "%.*s[%zu].name", STR_F(path), i),
			              "there is no volume named \"%.*s\" in its volumes",
			              STR_F(text_shown(name, p->arena)));
		if (!json_str(json_get(one, "mountPath")).n)
			problem_error(p, arena_printf(p->arena, "%.*s[%zu].mountPath", STR_F(path), i),
			              "must not be empty");
	}
}

static void check_log_dir(struct str dir, struct str path, struct problems *p)
{
	if (told(p, path))
		return;
	if (!dir.n)
		problem_error(p, path, "must not be empty: where does the training write its events?");
	else if (dir.n > LOG_DIR_MAX)
		problem_error(p, path, "has more than %d characters", LOG_DIR_MAX);
	else if (dir.p[0] == '-')
		problem_error(p, path, "must not begin with '-'");
}

static void check_board(const struct board_policy *b, const struct policy *user, const struct policy *own,
                        struct problems *p)
{
	struct arena *a = p->arena;

	check_log_dir(b->log_dir, field_path(user, own, SAID_BOARD_LOG_DIR, "tensorboard.logDir", a), p);
	if (!str_trim(b->image).n)
		problem_error(p, field_path(user, own, SAID_BOARD_IMAGE, "tensorboard.image", a), "must not be empty");
	check_volumes(b, field_path(user, own, SAID_BOARD_VOLUMES, "tensorboard.volumes", a), p);
	check_mounts(b, field_path(user, own, SAID_BOARD_MOUNTS, "tensorboard.volumeMounts", a), p);
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

static void put_container(struct buf *out, const struct board_policy *b, struct str name, bool tmp)
{
	buf_put(out, STR(",\"containers\":[{\"name\":"));
	buf_json_str(out, name);
	buf_put(out, STR(",\"image\":"));
	buf_json_str(out, b->image);
	buf_put(out, STR(",\"command\":[\"tensorboard\",\"--logdir\","));
	buf_json_str(out, b->log_dir);
	buf_printf(out, ",\"--host\",\"0.0.0.0\",\"--port\",\"%d\"],\"ports\":[{\"containerPort\":%d}]", BOARD_PORT,
	           BOARD_PORT);
	/* It has no home, and its root is read-only. */
	buf_put(out, STR(",\"env\":[{\"name\":\"HOME\",\"value\":\"/tmp\"}]"));
	buf_printf(out,
	           ",\"readinessProbe\":{\"httpGet\":{\"path\":\"/\",\"port\":%d},\"periodSeconds\":5,"
	           "\"timeoutSeconds\":5}",
	           BOARD_PORT);
	buf_put(out, STR(",\"securityContext\":{\"allowPrivilegeEscalation\":false,\"readOnlyRootFilesystem\":true,"
	                 "\"capabilities\":{\"drop\":[\"ALL\"]}}"));
	put_list(out, "volumeMounts", b->mounts);
	if (tmp)
		buf_printf(out, "%s{\"name\":\"" BOARD_TMP "\",\"mountPath\":\"/tmp\"}",
		           yyjson_arr_size(b->mounts) ? "," : "");
	buf_put(out, STR("]}]"));
}

static void put_template(struct buf *out, const struct board_policy *b, struct str name)
{
	bool tmp = !covers_tmp(b->mounts);

	buf_put(out, STR("{\"metadata\":{\"annotations\":{\"" ANNOTATION_BOARD "\":"));
	buf_json_str(out, b->log_dir);
	buf_printf(out,
	           "}},\"spec\":{\"automountServiceAccountToken\":false,\"securityContext\":{\"runAsNonRoot\":true,"
	           "\"runAsUser\":%d,\"runAsGroup\":%d,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}",
	           BOARD_USER, BOARD_USER);
	put_list(out, "volumes", b->volumes);
	if (tmp)
		buf_printf(out, "%s{\"name\":\"" BOARD_TMP "\",\"emptyDir\":{}}",
		           yyjson_arr_size(b->volumes) ? "," : "");
	buf_putc(out, ']');
	put_container(out, b, name, tmp);
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

static const struct board *board_of(const struct board_policy *b, yyjson_val *says, struct problems *p)
{
	struct board *ret = arena_new(p->arena, struct board);
	yyjson_val *labels = json_get(says, "labels");

	if (!has_only_texts(labels)) {
		problem_error(p, STR("spec"), "tensorboard.labels must be an object of texts");
		labels = NULL;
	}
	*ret = (struct board){ json_str(json_get(says, "name")), labels, b->service, b->ttl };
	return ret;
}

static struct role_doc role_of(const struct board_policy *b, const struct board *board, struct str path,
                               struct problems *p)
{
	static const struct port port = { STR_INIT("tb-port"), BOARD_SERVICE_PORT };
	struct buf text = BUF_INIT(TEMPLATE_MAX);
	struct role_doc doc = { .said = HAS_COUNT, .at = { path, NULL } };

	put_template(&text, b, str_is_dns_label(board->name, false) ? board->name : STR(BOARD_ROLE));
	doc.role = (struct role){ .name = STR(BOARD_ROLE),
		                  .title = STR(BOARD_ROLE),
		                  .path = path,
		                  .count_path = path,
		                  .count = 1,
		                  .min = -1,
		                  .max = -1,
		                  .aux = true,
		                  .service = true,
		                  .template = tree_of(&text, p->arena),
		                  .board = board };
	if (text.overflow)
		problem_error(p, path, "is too large");
	else
		template_read(&doc, p);
	doc.role.ports = &port;
	doc.role.n_ports = 1;
	buf_release(&text);
	return doc;
}

void board_add(struct job *job, struct role_doc *docs, yyjson_val *says, const struct policy *user,
               const struct policy *own, const struct policy *by_default, struct problems *p)
{
	struct board_policy b = policy_settle_board(user, own, by_default);
	struct str path = field_path(user, own, SAID_BOARD, "tensorboard", p->arena);
	size_t errors = p->errors;

	if (!((user->said | own->said) & SAID_BOARD))
		return;
	compare(user, own, p);
	check_board(&b, user, own, p);
	if (job->n_roles == JOB_MAX_ROLES)
		problem_error(p, path, "the job has %d roles already", JOB_MAX_ROLES);
	if (p->errors > errors)
		return;
	docs[job->n_roles] = role_of(&b, board_of(&b, says, p), path, p);
	job->roles[job->n_roles] = docs[job->n_roles].role;
	job->n_roles++;
}
