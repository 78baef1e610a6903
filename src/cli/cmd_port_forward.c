/* dljob port-forward: ports of a replica on this machine. */
#include "cli/commands.h"
#include "client/forward.h"
#include "client/replica.h"

static bool read_port(struct str text, bool any, int *ret)
{
	int64_t n;

	if (!str_int(text, &n) || n < (any ? 0 : 1) || n > UINT16_MAX)
		return false;
	*ret = (int)n;
	return true;
}

/* PORT, or HERE:THERE. */
static bool read_ports(struct cli *cli, int n, char **words, struct forward_port *ret)
{
	for (int i = 0; i < n; i++) {
		struct str rest = str_c(words[i]), here, there;

		str_next(&rest, ':', &here);
		there = str_next(&rest, ':', &there) ? there : here;
		if (rest.n || !read_port(here, true, &ret[i].here) || !read_port(there, false, &ret[i].there)) {
			cli->status = cli_usage(cli, "'%s' is neither a port nor HERE:THERE", words[i]);
			return false;
		}
	}
	return true;
}

static enum exit_code forward(struct cli_session *s, char **argv, const struct forward_port *ports, size_t n)
{
	struct replica_pod pod;
	struct job_found found;
	enum exit_code status;

	if (!job_find(&s->remote, s->kinds, argv[0], &found))
		return s->cli->status;
	status = replica_find(s, &found, argv[1], &pod) ? forward_run(&s->remote, found.ns, pod.pod, ports, n)
	                                                : s->cli->status;
	job_found_release(&found);
	return status;
}

enum exit_code cmd_port_forward(struct cli *cli, int argc, char **argv)
{
	struct cli_session s = { .cli = cli };
	struct forward_port ports[FORWARD_PORTS_MAX];
	struct opt opts[REMOTE_OPTS];
	enum exit_code status;
	int n;

	remote_opts(opts, &s.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		return cli->status;
	if (n < 3 || n > 2 + FORWARD_PORTS_MAX)
		return cli_usage(cli, "a job, a replica and 1 to %d ports are needed: mnist worker-0 8080",
		                 FORWARD_PORTS_MAX);
	if (!read_ports(cli, n - 2, argv + 2, ports))
		return cli->status;
	status = session_find(&s, false) ? forward(&s, argv, ports, (size_t)n - 2) : cli->status;
	session_end(&s);
	return status;
}
