/* dljob cp: files to and from a replica that runs. */
#include "cli/commands.h"
#include "client/copy.h"
#include "client/replica.h"

enum { OWN_OPTS = 1 };

/* REPLICA:PATH; a path of this machine with a colon can be written ./a:b. */
static bool is_there(const char *text, struct str *replica, struct str *path)
{
	struct str rest = str_c(text);
	const char *colon = strchr(text, ':');

	if (!colon || !str_next(&rest, ':', replica) || memchr(replica->p, '/', replica->n) || !replica->n)
		return false;
	*path = rest.n ? rest : STR(".");
	return true;
}

static enum exit_code copy_in(struct cli_session *s, const char *container, char **argv)
{
	struct str replica, path, other;
	bool from = is_there(argv[1], &replica, &path), ok;
	struct replica_pod pod;
	struct job_found found;

	if (from == is_there(argv[2], from ? &other : &replica, from ? &other : &path))
		return cli_usage(s->cli, "one of the two paths is in a replica (worker-0:%s), the other is not",
		                 from ? "out" : argv[1]);
	if (!job_find(&s->remote, s->kinds, argv[0], &found))
		return s->cli->status;
	ok = replica_find(s, &found, arena_str(&s->remote.arena, replica).p, &pod);
	if (ok) {
		struct pod_copy c = { .ns = found.ns,
			              .pod = pod.pod,
			              .container = container ? str_c(container) : pod.container,
			              .there = path,
			              .here = argv[from ? 2 : 1] };

		ok = from ? copy_from_pod(&s->remote, &c) : copy_to_pod(&s->remote, &c);
	}
	job_found_release(&found);
	return ok ? CLI_OK : s->cli->status;
}

enum exit_code cmd_cp(struct cli *cli, int argc, char **argv)
{
	struct cli_session s = { .cli = cli };
	const char *container = NULL;
	struct opt opts[OWN_OPTS + REMOTE_OPTS] = {
		{ 'c', "container", "NAME", "the container, if the pod has several", .text = &container },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + OWN_OPTS, &s.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		return cli->status;
	if (n != 3)
		return cli_usage(cli, "a job and two paths are needed: mnist worker-0:out/model.pt .");
	status = session_find(&s, true) ? copy_in(&s, container, argv) : cli->status;
	session_end(&s);
	return status;
}
