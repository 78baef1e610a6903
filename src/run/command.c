/* dljob run -- COMMAND: what a command has of its caller's, and no object holds. */
#include "run/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

bool run_read_command(struct run *r)
{
	struct run_input *in = &r->input;

	in->doc = write_job(r->cli, r->kinds, &r->options->command, &r->options->edits, &in->kj);
	if (!in->doc)
		return false;
	in->job = yyjson_doc_get_root(in->doc);
	in->file = "the command";
	in->kind = kinds_by_id(r->kinds, kind_job(in->kj)->kind);
	run_take_job(r);
	r->given.env = run_command_env(r);
	return true;
}

/* A replica has a host name, GPUs and neighbours of its own. */
static bool is_inherited(struct str variable)
{
	static const char *const own[] = { "HOSTNAME", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "_" };
	struct str rest = variable, name = STR_NONE;

	if (!str_next(&rest, '=', &name) || !name.n)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (str_eqc(name, own[i]))
			return false;
	return !str_has_prefix(name, STR("TORCHELASTIC_"));
}

const char *const *run_command_env(struct run *r)
{
	const char **ret;
	size_t n = 0, at = 0;

	while (environ[n])
		n++;
	ret = arena_array(&r->cli->arena, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		if (is_inherited(str_c(environ[i])))
			ret[at++] = environ[i];
	return ret;
}

/* --- Without namespaces --- */

static bool is_set_by_user(const struct run *r, const char *name)
{
	const struct opt_list *env = &r->options->edits.env;
	size_t n = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (!strncmp(env->v[i], name, n) && (!env->v[i][n] || env->v[i][n] == '='))
			return true;
	return false;
}

static bool template_sets(yyjson_val *template, const char *name)
{
	yyjson_val *container, *one;
	size_t i, k, max, many;

	yyjson_arr_foreach(json_at(template, "spec", "containers", NULL), i, max, container)
	{
		yyjson_arr_foreach(json_get(container, "env"), k, many, one)
		{
			if (str_eqc(json_str(json_get(one, "name")), name))
				return true;
		}
	}
	return false;
}

/* Does the kind tell the replicas where to meet, in variables that we may replace? */
static bool meets(const struct run *r, const char *name)
{
	const struct job *job = kind_job(r->input.kj);

	return !is_set_by_user(r, name) && job->n_roles && template_sets(job->roles[0].template, name);
}

/* One that nobody has now. Somebody can take it before the first replica does, as with torchrun. */
static int free_port(struct err *e)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&a, n) == 0 && getsockname(fd, (struct sockaddr *)&a, &n) == 0)
		port = ntohs(a.sin_port);
	else
		err_set(e, ERR_IO, "no free port on 127.0.0.1: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return port;
}

bool run_command_meet(struct run *r, struct err *e)
{
	bool host = meets(r, "MASTER_ADDR"), number = meets(r, "MASTER_PORT");
	struct job_edits edits = { 0 };
	yyjson_doc *doc;
	int port;

	if (!r->options->command.n_command || embedded_world(r->em)->kind != NET_HOST || !(host || number))
		return true;
	port = number ? free_port(e) : 1;
	if (!port)
		return false;
	if (host)
		opt_list_add(&edits.env, "MASTER_ADDR=127.0.0.1");
	if (number)
		opt_list_add(&edits.env, arena_printf(&r->cli->arena, "MASTER_PORT=%d", port).p);
	doc = edits_apply(&edits, r->input.job, e);
	edits_release(&edits);
	if (!doc)
		return false;
	/* The name and the namespace are kept: they are slices of the document that goes. */
	r->input.name = arena_str(&r->cli->arena, r->input.name);
	r->input.ns = arena_str(&r->cli->arena, r->input.ns);
	run_input_release(&r->input);
	r->input.doc = doc;
	r->input.job = yyjson_doc_get_root(doc);
	return true;
}

void run_command_notes(struct run *r)
{
	int64_t gpus = r->machine.amount.gpus;

	if (!r->options->command.n_command || r->options->quiet || gpus <= 0 || write_gpus(&r->options->command))
		return;
	run_say(r, "note: %lld GPU%s of this machine %s hidden; --gpus 1 gives each replica one", (long long)gpus,
	        gpus == 1 ? "" : "s", gpus == 1 ? "is" : "are");
}
