/* dljob run: can it run here at all? Asked before anything is started, of the first pod of each role. */
#include "local/pod/pod.h"
#include "local/runner/runner.h"
#include "local/runner/trees.h"
#include "run/internal.h"
#include "term/plain.h"

enum { POD_TEXT_MAX = 16 << 20 };

struct looking {
	const struct run *run;
	struct arena *arena;
	yyjson_val *pod;
	bool *used;             /* which of --volume a pod has */
	VEC(yyjson_doc *) docs; /* that were parsed on the way */
};

static const char *find_volume(void *cookie, struct str name)
{
	const struct looking *g = cookie;
	const struct given *given = &g->run->given;

	const char *dir = tree_of_volume(given->volumes, given->n_volumes, g->pod, name);

	for (size_t i = 0; i < given->n_volumes; i++)
		if (given->volumes[i].dir == dir)
			g->used[i] = true;
	return dir;
}

/* A slip in the name would leave the job without its data. */
static bool check_volumes(const struct run *r, const struct looking *g)
{
	bool ok = true;

	for (size_t i = 0; i < r->given.n_volumes; i++) {
		if (g->used[i])
			continue;
		r->cli->status = cli_fail(r->cli, CLI_INVALID, "--volume %s: no replica has a volume or a PVC '%.*s'",
		                          r->options->volumes.v[i], STR_F(r->given.volumes[i].name));
		ok = false;
	}
	return ok;
}

/* What stands beside the job is all that there will be. */
static yyjson_val *find_object(struct looking *g, const char *kind, struct str name)
{
	const struct run_input *in = &g->run->input;

	for (size_t i = 0; i < in->others.n; i++) {
		yyjson_doc *doc = json_parse(in->others.v[i], NULL);
		yyjson_val *root = yyjson_doc_get_root(doc);

		if (str_eqc(json_str(json_get(root, "kind")), kind) &&
		    str_eq(json_str(json_at(root, "metadata", "name", NULL)), name)) {
			*vec_push(g->arena, &g->docs) = doc;
			return root;
		}
		yyjson_doc_free(doc);
	}
	return NULL;
}

static yyjson_val *find_config_map(void *cookie, struct str name)
{
	return find_object(cookie, "ConfigMap", name);
}

static yyjson_val *find_secret(void *cookie, struct str name)
{
	return find_object(cookie, "Secret", name);
}

static bool find_image(void *cookie, struct str image, struct pod_image *ret)
{
	const struct looking *g = cookie;
	const struct given *given = &g->run->given;
	const char *dir = tree_find(given->rootfs, given->n_rootfs, image);

	return dir && pod_image_read(ret, dir, g->arena, NULL);
}

static bool check_role(struct run *r, size_t role, struct looking *g)
{
	struct kind_job *kj = r->input.kj;
	struct pod_from_options o = { .config_map = find_config_map,
		                      .secret = find_secret,
		                      .volume = find_volume,
		                      .image = find_image,
		                      .cookie = g,
		                      .cwd = STR("/"),
		                      .cpu_milli = r->machine.amount.cpu,
		                      .memory = r->machine.amount.memory };
	struct buf text = BUF_INIT(POD_TEXT_MAX);
	struct err e = ERR_INIT;
	struct pod_spec spec;
	struct pod_refusal why = { 0 };
	yyjson_doc *doc;
	bool ok = true;

	if (!kind_job(kj)->roles[role].count)
		return true;
	pod_from_as(&o);
	if (!kind_pod(kj, role, 0, 0, 0, &text, &e)) {
		r->cli->status = cli_fail(r->cli, CLI_INVALID, "%s", err_msg(&e));
		ok = false;
	} else {
		doc = json_parse(buf_str(&text), NULL);
		g->pod = yyjson_doc_get_root(doc);
		if (!pod_from(&spec, g->pod, &o, g->arena, &why, &e)) {
			r->cli->status = cli_fail(r->cli, CLI_INVALID, "%s: %.*s: %s", r->input.file,
			                          STR_F(kind_job(kj)->roles[role].path), err_msg(&e));
			ok = false;
		}
		yyjson_doc_free(doc);
	}
	err_release(&e);
	buf_release(&text);
	return ok;
}

/* So that nobody takes what he sees for training on GPUs: --quiet leaves it in. */
static void say_without_gpus(const struct job *job)
{
	for (size_t i = 0; i < job->n_roles; i++) {
		long long n = runner_gpus_of(job->roles[i].template);

		if (n && job->roles[i].count)
			plain_printf(stderr,
			             "dljob: WITHOUT GPUs: %.*s requests %lld each and gets none (--without-gpus)\n",
			             STR_F(job->roles[i].name), n);
	}
}

static bool check_size(struct run *r, const struct job *job)
{
	struct str why;
	bool without = r->options->without_gpus;

	if (without)
		say_without_gpus(job);
	if (!runner_never_fits(&r->machine.amount, job, without, &r->cli->arena, &why))
		return true;
	r->cli->status = cli_fail(r->cli, CLI_INVALID, "%s: %.*s%s", r->input.file, STR_F(why),
	                          !without && memmem(why.p, why.n, "GPU", 3) ? "; --without-gpus runs it without" : "");
	return false;
}

bool run_check(struct run *r)
{
	struct looking g = { .run = r,
		             .arena = &r->cli->arena,
		             .used = arena_array(&r->cli->arena, bool, r->given.n_volumes) };
	const struct job *job = kind_job(r->input.kj);
	bool ok = true;

	for (size_t i = 0; i < job->n_roles; i++)
		ok &= check_role(r, i, &g);
	ok = ok && check_volumes(r, &g) && check_size(r, job);
	for (size_t i = 0; i < g.docs.n; i++)
		yyjson_doc_free(g.docs.v[i]);
	return ok;
}

/* --- Ports, where all replicas share those of one network --- */

struct wanted_port {
	uint16_t port;
	struct str role;
	int index;
};

struct wanted_ports {
	struct arena *a;
	VEC(struct wanted_port) list;
};

static bool want_port(struct wanted_ports *w, struct wanted_port one, struct err *e)
{
	for (size_t i = 0; i < w->list.n; i++) {
		const struct wanted_port *other = &w->list.v[i];
		bool same = str_eq(other->role, one.role) && other->index == one.index;

		if (other->port == one.port && !same)
			return err_set(e, ERR_INVALID,
			               "%.*s-%d and %.*s-%d both want port %d, and here all replicas share the ports "
			               "of one network",
			               STR_F(other->role), other->index, STR_F(one.role), one.index, one.port);
	}
	*vec_push(w->a, &w->list) = one;
	return true;
}

/* Those that the runner will take for the pod. */
static bool want_ports_of(struct wanted_ports *w, yyjson_val *pod, struct str role, int index, struct err *e)
{
	static const char *const fields[] = { "containerPort", "hostPort" };
	yyjson_val *c, *port;
	size_t i, k, max, many;
	int64_t n;

	yyjson_arr_foreach(json_at(pod, "spec", "containers", NULL), i, max, c)
	{
		yyjson_arr_foreach(json_get(c, "ports"), k, many, port)
		{
			for (size_t f = 0; f < ARRAY_LEN(fields); f++)
				if (json_int(json_get(port, fields[f]), &n) && n > 0 && n <= UINT16_MAX &&
				    !want_port(w, (struct wanted_port){ (uint16_t)n, role, index }, e))
					return false;
		}
	}
	return true;
}

bool run_check_ports(struct run *r, struct err *e)
{
	struct wanted_ports w = { .a = &r->cli->arena };
	const struct job *job = kind_job(r->input.kj);
	bool ok = true;

	/* The replicas of a role have the same ports: two of them show it. */
	for (size_t i = 0; i < job->n_roles && ok; i++) {
		for (int k = 0; k < MIN(job->roles[i].count, 2) && ok; k++) {
			struct buf text = BUF_INIT(POD_TEXT_MAX);
			CLEANUP(json_docp) yyjson_doc *doc = NULL;

			ok = kind_pod(r->input.kj, i, k, 0, 0, &text, e);
			doc = ok ? json_parse(buf_str(&text), NULL) : NULL;
			ok = ok && want_ports_of(&w, yyjson_doc_get_root(doc), job->roles[i].name, k, e);
			buf_release(&text);
		}
	}
	return ok;
}
