#include "program/flags.h"

#include "base/str.h"
#include "kind/kind.h"
#include "operator/lease.h"
#include "plan/plan.h"
#include "term/bytes.h"
#include "term/duration.h"
#include "term/roff.h"

enum flag_type {
	FLAG_TITLE,
	FLAG_BOOL,
	FLAG_TEXT,
	FLAG_TIME,
	FLAG_SIZE,
	FLAG_INT,
	FLAG_REAL,
	FLAG_LIST,
	FLAG_IDLE,
	FLAG_IDLE_BOOL
};

struct flag {
	enum flag_type type;
	const char *name;
	size_t at; /* in struct operator_flags */
	const char *value;
	const char *help;
};

#define AT(member) offsetof(struct operator_flags, member)

static const char glog[] = "logs go to standard error, and --v says how much";

static const struct flag flags[] = {
	{ FLAG_TITLE, NULL, 0, NULL, "The API server" },
	{ FLAG_TEXT, "kubeconfig", AT(kubeconfig), "FILE", "instead of KUBECONFIG or USE_KUBE_CONFIG" },
	{ FLAG_TEXT, "context", AT(context), "NAME", "of the kubeconfig, instead of its current one" },
	{ FLAG_TEXT, "master", AT(master), "URL", "instead of the context's server" },
	{ FLAG_BOOL, "run-in-cluster", AT(in_cluster), NULL, "use the pod's service account and nothing else" },
	{ FLAG_TEXT, "namespace", AT(ns), "NAME", "serve this one only, without nodes and CRDs" },
	{ FLAG_INT, "concurrency", AT(concurrency), "N", "requests in flight at once (32)" },
	{ FLAG_REAL, "kube-api-qps", AT(qps), "N", "at most this many requests a second (0: the server decides)" },
	{ FLAG_INT, "kube-api-burst", AT(burst), "N", "requests at once before that limit applies (the qps)" },

	{ FLAG_TITLE, NULL, 0, NULL, "Kinds" },
	{ FLAG_TEXT, "kinds", AT(kinds), "A,B", "serve only these: TfJob, tfjobs or TfJob.mlkube.io" },
	{ FLAG_LIST, "kinds-dir", AT(kinds_dirs), "DIR", "also serve the kinds of its *.lua files; repeatable" },
	{ FLAG_BOOL, "install-crds", AT(install_crds), NULL, "create or upgrade their CRDs at the start (true)" },
	{ FLAG_BOOL, "adopt-crds", AT(adopt_crds), NULL, "replace CRDs that others created" },
	{ FLAG_BOOL, "cleanup-on-exit", AT(cleanup_on_exit), NULL,
	  "on exit delete the CRDs that it created, with all their jobs" },

	{ FLAG_TITLE, NULL, 0, NULL, "Rules" },
	{ FLAG_TIME, "node-grace", AT(node_grace), "TIME",
	  "how long a node must be NotReady to count as failed (40s)" },
	{ FLAG_TIME, "force-delete-after", AT(force_delete_after), "TIME",
	  "force-delete the pods of a failed node after this (5m)" },
	{ FLAG_BOOL, "enable-creating-failed", AT(creating_failed), NULL,
	  "end a job that never ran if its pods cannot be created (true)" },
	{ FLAG_TIME, "creating-duration-period", AT(creating_duration), "TIME", "… after trying this long (15m)" },
	{ FLAG_TIME, "creating-restart-period", AT(creating_restart), "TIME",
	  "… or restarted, within this time of the first try (0s)" },
	{ FLAG_SIZE, "max-pod-size", AT(max_pod_size), "SIZE", "a job is invalid if one of its pods is larger (1Mi)" },
	{ FLAG_SIZE, "max-job-size", AT(max_job_size), "SIZE", "… or if all its pods together are larger (256Mi)" },
	{ FLAG_TEXT, "controller-config-file", AT(controller_config), "FILE",
	  "volumes and variables for pods that request an accelerator" },

	{ FLAG_TEXT, "gang-scheduler-name", AT(gang_scheduler), "NAME",
	  "start a job's pods together: volcano, or a scheduler with scheduler-plugins" },

	{ FLAG_TITLE, NULL, 0, NULL, "Leader election" },
	{ FLAG_BOOL, "leader-elect", AT(leader_elect), NULL, "run several operators, of which one leads" },
	{ FLAG_TIME, "leader-elect-lease-duration", AT(lease_duration), "TIME",
	  "a standby takes over after this long (15s)" },
	{ FLAG_TIME, "leader-elect-renew-deadline", AT(renew_deadline), "TIME",
	  "the leader stops if it cannot renew for this long (10s)" },
	{ FLAG_TIME, "leader-elect-retry-period", AT(retry_period), "TIME", "between renewals (2s)" },
	{ FLAG_TEXT, "leader-elect-resource-name", AT(lease_name), "NAME", "of the Lease (dl-operator)" },
	{ FLAG_TEXT, "leader-elect-resource-namespace", AT(lease_ns), "NAME",
	  "of the Lease (MY_POD_NAMESPACE, KUBEFLOW_NAMESPACE, the context's)" },

	{ FLAG_TITLE, NULL, 0, NULL, "Observability" },
	{ FLAG_TEXT, "metrics-bind-address", AT(metrics_address), "ADDRESS", "/metrics and /debug (:8080; 0: none)" },
	{ FLAG_TEXT, "health-probe-bind-address", AT(health_address), "ADDRESS",
	  "/healthz and /readyz (:8081; 0: none)" },
	{ FLAG_BOOL, "json-log-format", AT(json_log), NULL, "log lines are JSON (true)" },
	{ FLAG_INT, "v", AT(verbosity), "N", "2 and more: log every request" },
	{ FLAG_BOOL, "version", AT(version), NULL, "print the version and exit" },
	{ FLAG_BOOL, "help", AT(help), NULL, "print this and exit" },
	{ FLAG_BOOL, "man", AT(man), NULL, "print the manual page, for man, and exit" },

	{ FLAG_IDLE, "thread-num", 0, NULL, "there is one thread; --concurrency limits the requests in flight" },
	{ FLAG_IDLE, "resync-period", 0, NULL, "there is no resync: every wait has its own timer" },
	{ FLAG_IDLE, "gc-interval", 0, NULL, "Kubernetes garbage-collects the children of a deleted job" },
	{ FLAG_IDLE, "chaos-level", 0, NULL, "it never had an effect" },
	{ FLAG_IDLE, "leader-elect-resource-lock", 0, NULL, "the lock is always a Lease" },
	{ FLAG_IDLE_BOOL, "logtostderr", 0, NULL, glog },
	{ FLAG_IDLE_BOOL, "alsologtostderr", 0, NULL, glog },
	{ FLAG_IDLE, "stderrthreshold", 0, NULL, glog },
	{ FLAG_IDLE, "vmodule", 0, NULL, glog },
	{ FLAG_IDLE, "log-dir", 0, NULL, glog },
	{ FLAG_IDLE, "log-file", 0, NULL, glog },
	{ FLAG_IDLE, "log-backtrace-at", 0, NULL, glog },
};

void operator_flags_init(struct operator_flags *f)
{
	*f = (struct operator_flags){
		.concurrency = 32,
		.install_crds = true,
		.max_pod_size = kind_sizes_default.pod,
		.max_job_size = kind_sizes_default.job,
		.force_delete_after = plan_config_default.force_delete_after,
		.node_grace = plan_config_default.node_grace,
		.creating_restart = plan_config_default.creating_restart_period,
		.creating_duration = plan_config_default.creating_duration,
		.creating_failed = plan_config_default.creating_failed,
		.lease_duration = SECONDS(15),
		.renew_deadline = SECONDS(10),
		.retry_period = SECONDS(2),
		.lease_name = "dl-operator",
		.metrics_address = ":8080",
		.health_address = ":8081",
		.json_log = true,
	};
}

void operator_flags_release(struct operator_flags *f)
{
	opt_list_release(&f->kinds_dirs);
	opt_list_release(&f->idle);
}

static bool bool_parse(struct str s, bool *ret)
{
	static const char *const yes[] = { "true", "1", "t" }, *const no[] = { "false", "0", "f" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_eq_nocase(s, str_c(yes[i])))
			return *ret = true;
		if (str_eq_nocase(s, str_c(no[i]))) {
			*ret = false;
			return true;
		}
	}
	return false;
}

static bool same_name(struct str given, const char *name)
{
	if (given.n != strlen(name))
		return false;
	for (size_t i = 0; i < given.n; i++)
		if ((given.p[i] == '_' ? '-' : given.p[i]) != name[i])
			return false;
	return true;
}

static const struct flag *find_flag(struct str name)
{
	if (str_eqc(name, "h"))
		name = STR("help");
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (flags[i].name && same_name(name, flags[i].name))
			return &flags[i];
	return NULL;
}

static bool unknown(struct str name, struct err *e)
{
	const char *nearest = NULL;
	unsigned least = 4;

	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		unsigned d = flags[i].name ? str_distance(name, str_c(flags[i].name), 3) : least;

		if (d < least && d < name.n) {
			least = d;
			nearest = flags[i].name;
		}
	}
	if (nearest)
		return err_set(e, ERR_INVALID, "unknown flag --%.*s; did you mean --%s?", STR_F(name), nearest);
	return err_set(e, ERR_INVALID, "unknown flag --%.*s", STR_F(name));
}

static bool take_value(struct operator_flags *f, const struct flag *flag, const char *value, struct err *e)
{
	void *at = (char *)f + flag->at;
	struct str s = str_c(value);
	int64_t number;
	double real;

	switch (flag->type) {
	case FLAG_TITLE:
		break;
	case FLAG_BOOL:
		if (!value)
			*(bool *)at = true;
		else if (!bool_parse(s, at))
			return err_set(e, ERR_INVALID, "--%s is true or false, not '%s'", flag->name, value);
		break;
	case FLAG_TEXT:
		*(const char **)at = value;
		break;
	case FLAG_TIME:
		if (!duration_parse(s, at))
			return err_set(e, ERR_INVALID, "--%s wants a time such as 30s or 5m, not '%s'", flag->name,
			               value);
		break;
	case FLAG_SIZE:
		if (!bytes_parse(value, at) || !*(uint64_t *)at)
			return err_set(e, ERR_INVALID, "--%s wants a size such as 2Mi or 1Gi, not '%s'", flag->name,
			               value);
		break;
	case FLAG_INT:
		if (!str_int(s, &number) || number < 0 || number > INT32_MAX)
			return err_set(e, ERR_INVALID, "--%s wants a number, not '%s'", flag->name, value);
		*(int32_t *)at = (int32_t)number;
		break;
	case FLAG_REAL:
		if (!decimal_cut(&s, &real) || s.n)
			return err_set(e, ERR_INVALID, "--%s wants a number, not '%s'", flag->name, value);
		*(double *)at = real;
		break;
	case FLAG_LIST:
		opt_list_add(at, value);
		break;
	case FLAG_IDLE:
	case FLAG_IDLE_BOOL:
		for (size_t i = 0; i < f->idle.n; i++)
			if (!strcmp(f->idle.v[i], flag->name))
				return true;
		opt_list_add(&f->idle, flag->name);
		break;
	}
	return true;
}

static bool takes_value(const struct flag *flag)
{
	return flag->type != FLAG_BOOL && flag->type != FLAG_IDLE_BOOL;
}

static bool take_argument(struct operator_flags *f, int argc, char **argv, int *i, struct err *e)
{
	const char *text = argv[*i] + (argv[*i][1] == '-' ? 2 : 1), *equals = strchr(text, '=');
	struct str name = equals ? (struct str){ text, (size_t)(equals - text) } : str_c(text);
	const struct flag *flag = find_flag(name);

	if (!flag)
		return unknown(name, e);
	if (equals)
		return take_value(f, flag, equals + 1, e);
	if (!takes_value(flag))
		return take_value(f, flag, NULL, e);
	if (*i + 1 >= argc)
		return err_set(e, ERR_INVALID, "--%s wants a value", flag->name);
	return take_value(f, flag, argv[++*i], e);
}

/* As pods name their scheduler. */
static bool is_name(struct str s)
{
	struct str part;

	while (str_next(&s, '.', &part))
		if (!str_is_dns_label(part, false))
			return false;
	return true;
}

/* What no flag alone can be blamed for. */
static bool check_flags(const struct operator_flags *f, struct err *e)
{
	struct lease_config lease = { .ns = STR("-"),
		                      .name = str_c(f->lease_name),
		                      .identity = STR("-"),
		                      .duration = f->lease_duration,
		                      .renew_deadline = f->renew_deadline,
		                      .retry_period = f->retry_period };

	if (f->concurrency < 1 || f->concurrency > 1024)
		return err_set(e, ERR_INVALID, "--concurrency is between 1 and 1024, not %d", f->concurrency);
	if (f->gang_scheduler && *f->gang_scheduler && !is_name(str_c(f->gang_scheduler)))
		return err_set(e, ERR_INVALID, "--gang-scheduler-name is the name of a scheduler, not '%s'",
		               f->gang_scheduler);
	if (f->leader_elect && f->cleanup_on_exit)
		return err_set(e, ERR_INVALID,
		               "--cleanup-on-exit and --leader-elect exclude each other: a rolling update would "
		               "delete everybody's jobs");
	if (f->cleanup_on_exit && !f->install_crds)
		return err_set(e, ERR_INVALID, "--cleanup-on-exit has nothing to clean with --install-crds=false");
	if (f->leader_elect && !lease_config_check(&lease, e))
		return err_wrap(e, "--leader-elect");
	return true;
}

bool operator_flags_parse(struct operator_flags *f, int argc, char **argv, struct err *e)
{
	bool ended = false;

	for (int i = 0; i < argc; i++) {
		if (ended || argv[i][0] != '-' || !argv[i][1])
			argv[f->n_operands++] = argv[i];
		else if (!strcmp(argv[i], "--"))
			ended = true;
		else if (!take_argument(f, argc, argv, &i, e))
			return false;
	}
	return f->help || f->version || f->man || check_flags(f, e);
}

const char *operator_flag_idle_reason(const char *name)
{
	const struct flag *flag = find_flag(str_c(name));

	return flag ? flag->help : "";
}

void operator_flags_help(FILE *to)
{
	fputs("dl-operator: runs deep-learning training jobs on Kubernetes.\n\n"
	      "usage: dl-operator [flags]\n"
	      "       dl-operator install-crds [flags]    create or upgrade the CRDs of the kinds, and exit\n",
	      to);
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		const struct flag *f = &flags[i];
		int width;

		if (f->type == FLAG_IDLE || f->type == FLAG_IDLE_BOOL)
			continue;
		if (f->type == FLAG_TITLE) {
			fprintf(to, "\n%s:\n", f->help);
			continue;
		}
		width = fprintf(to, "  --%s%s%s", f->name, f->value ? "=" : "", f->value ? f->value : "");
		fprintf(to, "%*s%s\n", MAX(42 - width, 2), "", f->help);
	}
	fputs("\nAccepted, without effect:\n ", to);
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (flags[i].type == FLAG_IDLE || flags[i].type == FLAG_IDLE_BOOL)
			fprintf(to, " --%s", flags[i].name);
	fputs("\n\nExamples:\n"
	      "  dl-operator --kubeconfig=$HOME/.kube/config --json-log-format=false\n"
	      "  dl-operator --leader-elect --leader-elect-resource-namespace=dl-operator\n"
	      "  dl-operator --namespace=team-a --kinds=TfJob,AITrainingJob --install-crds=false\n"
	      "\nExit status: 0 ended by a signal, 1 failed, 2 a wrong flag or file.\n",
	      to);
}

msec operator_flags_timeout(const struct operator_flags *f)
{
	msec most = SECONDS(30);

	return f->leader_elect ? MIN(most, (f->lease_duration - f->renew_deadline) * 9 / 10) : most;
}

size_t operator_flags_requests(const struct operator_flags *f)
{
	size_t most = (size_t)f->concurrency * 3 / 2;
	double in_time = f->qps * (double)operator_flags_timeout(f) / 1000 / 2;

	return f->qps > 0 && in_time < (double)most ? MAX((size_t)in_time, (size_t)1) : most;
}

void operator_flags_man(FILE *to)
{
	roff_begin(to, "dl-operator", 8, "runs deep-learning training jobs on Kubernetes");
	roff_section(to, "SYNOPSIS");
	fputs("\\fBdl\\-operator\\fR [flags]\n.br\n\\fBdl\\-operator install\\-crds\\fR [flags]\n", to);
	roff_section(to, "DESCRIPTION");
	roff_text(to,
	          "Watches the jobs of all kinds, creates their pods and services, restarts what fails, and writes\n"
	          "the reason for each job's state into its status. install-crds creates or upgrades the CRDs of the\n"
	          "kinds, and exits.\n");
	roff_section(to, "FLAGS");
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		const struct flag *f = &flags[i];
		char term[128];

		if (f->type == FLAG_IDLE || f->type == FLAG_IDLE_BOOL)
			continue;
		if (f->type == FLAG_TITLE) {
			roff_subsection(to, f->help);
			continue;
		}
		snprintf(term, sizeof(term), "--%s", f->name);
		roff_item(to, term, f->value, f->help);
	}
	roff_section(to, "SEE ALSO");
	roff_text(to, "dljob(1), kubectl(1)\n");
}
