/* The flags of dl-operator as a table: parsed from it, and shown by --help from the same place. The names
   of the operators that came before are taken too, as their charts write them. */
#ifndef PROGRAM_FLAGS_H
#define PROGRAM_FLAGS_H

#include "base/clock.h"
#include "term/opts.h"

struct operator_flags {
	/* The API server. */
	const char *master, *kubeconfig, *context, *ns;
	bool in_cluster;
	double qps;
	int32_t burst, concurrency;
	const char *gang_scheduler; /* NULL or empty: no gangs */
	/* Kinds and their CRDs. */
	const char *kinds;
	struct opt_list kinds_dirs;
	uint64_t max_pod_size, max_job_size;
	bool install_crds, adopt_crds, cleanup_on_exit;
	/* Rules. */
	msec force_delete_after, node_grace, creating_restart, creating_duration;
	bool creating_failed;
	const char *controller_config;
	/* Leader election. */
	bool leader_elect;
	msec lease_duration, renew_deadline, retry_period;
	const char *lease_name, *lease_ns;
	/* Seen from outside. */
	const char *metrics_address, *health_address;
	bool json_log;
	int32_t verbosity;
	bool version, help, man;

	struct opt_list idle; /* flags that were given and have no meaning today; see operator_flag_idle_reason() */
	int n_operands;       /* moved to the front of argv */
};

void operator_flags_init(struct operator_flags *f);
void operator_flags_release(struct operator_flags *f);
/* Takes the flags out of ARGV (from argv[0] on); one dash or two, underscores as dashes, "--flag=value" or
   "--flag value"; a boolean takes a value only with '='. False, with one line, on anything that is wrong with
   one of them or with all together. */
bool operator_flags_parse(struct operator_flags *f, int argc, char **argv, struct err *e);
/* Why a flag in `idle` has no meaning. */
const char *operator_flag_idle_reason(const char *name);
void operator_flags_help(FILE *to);
/* The manual page dl-operator(8). */
void operator_flags_man(FILE *to);

/* How long a request may take: it must not outlive the lease that allowed it. */
msec operator_flags_timeout(const struct operator_flags *f);
/* How many may be in flight: so many that no connection waits for us, not even while one job alone sends, which gets
   three quarters of them; with a limit a second, no more than get their turn in time. */
size_t operator_flags_requests(const struct operator_flags *f);

#endif
