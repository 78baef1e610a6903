#include "client/write.h"

#include "base/json.h"
#include "client/write_check.h"

#define PLACEHOLDER "your-image-here"
enum { REPLICAS_MOST = 100000, GPUS_MOST = 1000, ROLES_MAX = 64, NAME_KEPT = 40, WORD_MAX = 1 << 20 };

void write_opts(struct opt ret[static WRITE_OPTS], struct write_options *o)
{
	const struct opt opts[WRITE_OPTS] = {
		{ 'n', "replicas", "N", "the number of workers that run the command after --", .text = &o->replicas },
		{ 0, "roles", "ROLE=N,…", "instead of -n: ps=1,worker=3", .text = &o->roles },
		{ 0, "gpus", "N", "GPUs per replica; it does not see the others", .text = &o->gpus },
		{ 0, "kind", "KIND", "the job's kind, such as TFJob.mpba.fbk.eu (AITrainingJob)", .text = &o->kind },
		{ 0, "name", "NAME", "of the job (the program's)", .text = &o->name },
		{ 0, "image", "IMAGE", "of the containers, for a cluster", .text = &o->image },
	};

	memcpy(ret, opts, sizeof(opts));
}

const char *write_given(const struct write_options *o)
{
	return o->replicas ? "-n"
	       : o->roles  ? "--roles"
	       : o->gpus   ? "--gpus"
	       : o->kind   ? "--kind"
	       : o->name   ? "--name"
	       : o->image  ? "--image"
	                   : NULL;
}

int64_t write_gpus(const struct write_options *o)
{
	int64_t n = 0;

	return str_int(str_c(o->gpus), &n) && n > 0 && n <= GPUS_MOST ? n : 0;
}

struct str write_escaped(struct arena *a, struct str text)
{
	struct buf out = BUF_INIT(2 * WORD_MAX);
	struct str ret;

	for (size_t i = 0; i < text.n; i++) {
		buf_putc(&out, text.p[i]);
		if (text.p[i] == '$' && i + 1 < text.n && (text.p[i + 1] == '$' || text.p[i + 1] == '('))
			buf_putc(&out, '$');
	}
	ret = arena_str(a, buf_str(&out));
	buf_release(&out);
	return ret;
}

/* --- What was asked for --- */

static bool read_role(struct cli *cli, struct str part, struct role_list *ret)
{
	struct str rest = part, name = STR_NONE;
	int64_t count;

	if (!str_next(&rest, '=', &name) || !name.n || !str_int(rest, &count) || count < 1 || count > REPLICAS_MOST) {
		cli->status =
			cli_usage(cli, "--roles wants ROLE=N,ROLE=N, such as ps=1,worker=3, not '%.*s'", STR_F(part));
		return false;
	}
	for (size_t i = 0; i < ret->all.n; i++)
		if (str_eq_nocase(ret->all.v[i].name, name)) {
			cli->status = cli_usage(cli, "--roles names '%.*s' twice", STR_F(name));
			return false;
		}
	*vec_push(&cli->arena, &ret->all) = (struct kind_role){ name, (int32_t)count };
	return true;
}

static bool read_roles(struct cli *cli, const struct write_options *o, struct role_list *ret)
{
	struct str rest = str_c(o->roles), part;
	int64_t count = 1;

	if (o->roles && o->replicas) {
		cli->status = cli_usage(cli, "-n and --roles exclude each other");
		return false;
	}
	if (o->roles && !rest.n)
		return read_role(cli, rest, ret);
	while (str_next(&rest, ',', &part))
		if (!read_role(cli, part, ret))
			return false;
	if (ret->all.n > ROLES_MAX) {
		cli->status = cli_usage(cli, "--roles has %zu roles; at most %d are allowed", ret->all.n, ROLES_MAX);
		return false;
	}
	if (ret->all.n)
		return true;
	if (o->replicas && !str_int(str_c(o->replicas), &count)) {
		cli->status = cli_usage(cli,
		                        "-n is the number of replicas, not a namespace: '%s' is no number. "
		                        "Jobs of 'dljob run' are alone on this machine and need none",
		                        o->replicas);
		return false;
	}
	if (count < 1 || count > REPLICAS_MOST) {
		cli->status = cli_usage(cli, "-n wants 1 to %d replicas, not %s", REPLICAS_MOST, o->replicas);
		return false;
	}
	*vec_push(&cli->arena, &ret->all) = (struct kind_role){ STR("worker"), (int32_t)count };
	return true;
}

/* TFJob and TfJob are two kinds; their exact name is enough. */
static const struct kind *find_kind(struct cli *cli, const struct kinds *kinds, const char *name)
{
	struct str want = str_c(name ? name : "AITrainingJob"), ids = STR_NONE;
	const struct kind *exact = NULL, *any = NULL;
	int n_exact = 0, n_any = 0;

	for (size_t i = 0; i < kinds_count(kinds); i++) {
		const struct kind *k = kinds_at(kinds, i);

		if (!kind_is_named(k, want))
			continue;
		any = k;
		n_any++;
		ids = arena_printf(&cli->arena, "%.*s%s%.*s", STR_F(ids), ids.n ? " or " : "", STR_F(k->id));
		if (str_eq(k->kind, want)) {
			exact = k;
			n_exact++;
		}
	}
	if (n_exact == 1 || n_any == 1)
		return n_exact == 1 ? exact : any;
	cli->status = n_any ? cli_usage(cli, "--kind %.*s is ambiguous: %.*s", STR_F(want), STR_F(ids))
	                    : cli_usage(cli, "there is no kind '%.*s'; see 'dljob kinds'", STR_F(want));
	return NULL;
}

/* --- The job's name: that of the program --- */

/* The word that says what runs: train.py of `python train.py`, pkg.train of `python -m pkg.train`. */
static struct str program_of(const struct write_options *o)
{
	for (int i = 0; i < o->n_command; i++) {
		struct str word = str_c(o->command[i]);

		if (str_has_suffix(word, STR(".py")) || str_has_suffix(word, STR(".sh")))
			return str_sub(word, 0, word.n - 3);
		if (str_eqc(word, "-m") && i + 1 < o->n_command)
			return str_c(o->command[i + 1]);
	}
	return str_c(o->command[0]);
}

/* Behind the last '/' or '.', in lower case; what no name may have becomes a dash. */
static struct str name_of(struct arena *a, const struct write_options *o)
{
	struct str word = program_of(o), ret;
	struct buf name = BUF_INIT(WORD_MAX);

	for (size_t i = word.n; i > 0; i--)
		if ((word.p[i - 1] == '/' || word.p[i - 1] == '.') && i < word.n) {
			word = str_sub(word, i, word.n);
			break;
		}
	for (size_t i = 0; i < word.n && name.n < NAME_KEPT; i++) {
		char c = word.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((c >= 'a' && c <= 'z') || (name.n && c >= '0' && c <= '9'))
			buf_putc(&name, c);
		else if (name.n && name.p[name.n - 1] != '-')
			buf_putc(&name, '-');
	}
	while (name.n && name.p[name.n - 1] == '-')
		name.n--;
	ret = name.n ? arena_str(a, buf_str(&name)) : STR("job");
	buf_release(&name);
	return ret;
}

/* --- The pod template --- */

static yyjson_mut_val *put_object(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key)
{
	return yyjson_mut_obj_add_obj(doc, to, key);
}

static void put_str(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, struct str value)
{
	json_mut_put(doc, to, str_c(key), json_mut_str(doc, value));
}

/* As torchrun does: several processes on one machine do not each take all of its cores. */
static void put_threads(yyjson_mut_doc *doc, yyjson_mut_val *container)
{
	yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, container, "env"));

	put_str(doc, one, "name", STR("OMP_NUM_THREADS"));
	put_str(doc, one, "value", STR("1"));
}

/* Data loaders of PyTorch share memory there, and a container's own is 64 MiB. */
static void put_shm(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_mut_val *container)
{
	yyjson_mut_val *mount = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, container, "volumeMounts"));
	yyjson_mut_val *volume = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, spec, "volumes"));

	put_str(doc, mount, "name", STR("shm"));
	put_str(doc, mount, "mountPath", STR("/dev/shm"));
	put_str(doc, volume, "name", STR("shm"));
	put_str(doc, put_object(doc, volume, "emptyDir"), "medium", STR("Memory"));
}

static yyjson_doc *template_of(struct arena *a, const struct write_options *o, const struct role_list *roles)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *root = yyjson_mut_obj(doc), *spec = put_object(doc, root, "spec"), *c, *command;
	bool several = roles->all.n > 1 || roles->all.v[0].count > 1;

	yyjson_mut_doc_set_root(doc, root);
	put_str(doc, spec, "restartPolicy", STR("Never"));
	c = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, spec, "containers"));
	put_str(doc, c, "name", STR("main"));
	put_str(doc, c, "image", str_c(o->image ? o->image : PLACEHOLDER));
	command = yyjson_mut_obj_add_arr(doc, c, "command");
	for (int i = 0; i < o->n_command; i++)
		yyjson_mut_arr_append(command, json_mut_str(doc, write_escaped(a, str_c(o->command[i]))));
	/* This machine's replicas inherit the caller's. */
	if (several && (o->cluster || !getenv("OMP_NUM_THREADS")))
		put_threads(doc, c);
	if (write_gpus(o))
		yyjson_mut_obj_add_sint(doc, put_object(doc, put_object(doc, c, "resources"), "limits"),
		                        "nvidia.com/gpu", write_gpus(o));
	if (o->cluster)
		put_shm(doc, spec, c);
	return yyjson_mut_doc_imut_copy(doc, NULL);
}

/* --- The order in which people read: what it is before what is in it. --- */

static const char *const first_keys[] = { "apiVersion",    "kind",          "metadata",    "name",     "value",
	                                  "tfReplicaType", "mxReplicaType", "replicaType", "replicas", "replicaSpecs",
	                                  "template",      "restartPolicy", "image",       "command",  "env",
	                                  "resources",     "volumeMounts",  "containers",  NULL };

static bool is_first(struct str key)
{
	for (size_t i = 0; first_keys[i]; i++)
		if (str_eqc(key, first_keys[i]))
			return true;
	return false;
}

/* Its depth is that of our own template, or of what a kind's Lua may return. */
static yyjson_mut_val *ordered(yyjson_mut_doc *doc, yyjson_val *val)
{
	yyjson_mut_val *ret;
	yyjson_val *key, *v;
	size_t i, max;

	if (yyjson_is_arr(val)) {
		ret = yyjson_mut_arr(doc);
		yyjson_arr_foreach(val, i, max, v) yyjson_mut_arr_append(ret, ordered(doc, v));
		return ret;
	}
	if (!yyjson_is_obj(val))
		return yyjson_val_mut_copy(doc, val);
	ret = yyjson_mut_obj(doc);
	for (size_t k = 0; first_keys[k]; k++)
		if ((v = json_get(val, first_keys[k])))
			json_mut_put(doc, ret, str_c(first_keys[k]), ordered(doc, v));
	yyjson_obj_foreach(val, i, max, key, v)
	{
		if (!is_first(json_str(key)))
			json_mut_put(doc, ret, json_str(key), ordered(doc, v));
	}
	return ret;
}

static yyjson_doc *in_order(yyjson_mut_doc *doc)
{
	CLEANUP(json_docp) yyjson_doc *as_made = yyjson_mut_doc_imut_copy(doc, NULL);
	CLEANUP(json_mut_docp) yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);

	yyjson_mut_doc_set_root(copy, ordered(copy, yyjson_doc_get_root(as_made)));
	return yyjson_mut_doc_imut_copy(copy, NULL);
}

/* --- The job --- */

static bool check_options(struct cli *cli, const struct write_options *o)
{
	int64_t n;

	if (!o->n_command)
		cli->status = cli_usage(cli, "which command? Write it after --: -n 3 -- python train.py");
	else if (o->gpus && (!str_int(str_c(o->gpus), &n) || n < 0 || n > GPUS_MOST))
		cli->status = cli_usage(cli, "--gpus wants 0 to %d for each replica, not '%s'", GPUS_MOST, o->gpus);
	else
		return true;
	return false;
}

static bool check_command(struct cli *cli, const struct write_options *o)
{
	for (int i = 0; i < o->n_command; i++) {
		struct str word = str_c(o->command[i]);

		if (word.n > WORD_MAX || !str_is_utf8(word)) {
			cli->status = cli_fail(cli, CLI_INVALID, "argument %d of the command %s", i + 1,
			                       word.n > WORD_MAX ? "has more than 1 MiB"
			                                         : "is not UTF-8, which a manifest cannot hold");
			return false;
		}
	}
	if (*o->command[0])
		return true;
	cli->status = cli_fail(cli, CLI_INVALID, "the command is empty");
	return false;
}

static yyjson_doc *write_plain(struct cli *cli, struct kinds *kinds, const struct write_options *o,
                               const struct role_list *roles, const struct kind *kind)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	CLEANUP(json_docp) yyjson_doc *template = template_of(&cli->arena, o, roles);
	yyjson_mut_val *root = yyjson_mut_obj(doc), *spec;
	struct err e = ERR_INIT;

	spec = kind_write(kinds, kind, roles->all.v, roles->all.n, yyjson_doc_get_root(template), doc, &e);
	if (!spec) {
		cli->status = cli_fail(cli, e.code == ERR_INVALID ? CLI_INVALID : CLI_FAILED, "%s", err_msg(&e));
		err_release(&e);
		return NULL;
	}
	yyjson_mut_doc_set_root(doc, root);
	put_str(doc, root, "apiVersion",
	        arena_printf(&cli->arena, "%.*s/%.*s", STR_F(kind->group), STR_F(kind->version)));
	put_str(doc, root, "kind", kind->kind);
	put_str(doc, put_object(doc, root, "metadata"), "name", o->name ? str_c(o->name) : name_of(&cli->arena, o));
	yyjson_mut_obj_add_val(doc, root, "spec", spec);
	return in_order(doc);
}

yyjson_doc *write_job(struct cli *cli, struct kinds *kinds, const struct write_options *o,
                      const struct job_edits *edits, struct kind_job **kj)
{
	struct writing w = { .cli = cli, .kinds = kinds, .options = o };
	struct kind_job *checked;
	yyjson_doc *doc;

	if (!check_options(cli, o) || !read_roles(cli, o, &w.roles) || !check_command(cli, o))
		return NULL;
	w.kind = find_kind(cli, kinds, o->kind);
	doc = w.kind ? write_plain(cli, kinds, o, &w.roles, w.kind) : NULL;
	checked = doc ? write_check(&w, edits, &doc) : NULL;
	if (!checked) {
		yyjson_doc_free(doc);
		return NULL;
	}
	if (kj)
		*kj = checked;
	else
		kind_job_free(checked);
	if (o->cluster && !o->image)
		cli_fail(cli, CLI_OK,
		         "warning: without --image the manifest has '" PLACEHOLDER
		         "'; on a cluster it must be one that holds the program");
	return doc;
}
