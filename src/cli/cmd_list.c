/* dljob list: the jobs of all kinds, a line for each. */
#include "base/map.h"
#include "cli/commands.h"
#include "client/follow.h"
#include "client/jobs.h"
#include "client/objects.h"
#include "client/view.h"
#include "term/table.h"
#include "term/plain.h"

enum list_column {
	COL_NAMESPACE,
	COL_NAME,
	COL_KIND,
	COL_STATE,
	COL_REASON,
	COL_PODS,
	COL_RESTARTS,
	COL_AGE,
	LIST_COLUMNS
};

enum { REASON_KEPT = 70 };

struct listing {
	struct cli_session session;
	bool all, watch;
	const char *output, *state, *selector;
	struct table table;
	struct map shown; /* uid → the row as it was printed last */
	struct arena arena;
	struct follow **follows;
	size_t n_follows;
};

static struct str clipped(struct arena *a, struct str s)
{
	size_t n = REASON_KEPT;

	if (s.n <= n)
		return s;
	while (n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return arena_printf(a, "%.*s…", (int)n, s.p);
}

static void make_row(const struct listing *l, const struct job_of *job, struct arena *a,
                     struct str row[static LIST_COLUMNS])
{
	struct job_view v = job_view(job->root);
	const struct str all[LIST_COLUMNS] = {
		[COL_NAMESPACE] = v.ns,
		[COL_NAME] = v.name,
		[COL_KIND] = kind_title(l->session.kinds, job->kind),
		[COL_STATE] = v.state,
		[COL_REASON] = clipped(a, v.reason),
		[COL_PODS] = v.pods,
		[COL_RESTARTS] = arena_printf(a, "%lld", (long long)v.restarts),
		[COL_AGE] = age_text(a, v.created, clock_now(&clock_wall)),
	};

	memcpy(row, l->all ? all : all + 1, l->table.columns * sizeof(*row));
}

static bool is_wanted(const struct listing *l, yyjson_val *root)
{
	return !l->state || str_eq_nocase(str_c(l->state), job_view(root).state);
}

/* The newest first; of one second by name. */
static int by_age(const void *one, const void *other)
{
	const struct job_of *a = one, *b = other;
	struct job_view va = job_view(a->root), vb = job_view(b->root);

	if (va.created != vb.created)
		return va.created > vb.created ? -1 : 1;
	return str_cmp(va.name, vb.name);
}

/* What a row says apart from its age. */
static struct str without_age(struct arena *a, const struct str *row, size_t n)
{
	struct str text = STR_NONE;

	for (size_t i = 0; i + 1 < n; i++)
		text = arena_printf(a, "%.*s\t%.*s", STR_F(text), STR_F(row[i]));
	return text;
}

/* Prints the job unless that was said already. */
static void show(struct listing *l, const struct job_of *job)
{
	struct str uid = arena_str(&l->arena, json_str(json_at(job->root, "metadata", "uid", NULL))), row[LIST_COLUMNS],
		   text;
	const char *before = map_get(&l->shown, uid);

	if (!is_wanted(l, job->root))
		return;
	make_row(l, job, &l->arena, row);
	text = without_age(&l->arena, row, l->table.columns);
	if (before && str_eqc(text, before))
		return;
	map_put(&l->shown, uid, (void *)(uintptr_t)text.p);
	table_fit(&l->table, row);
	table_print(&l->table, row, stdout);
	fflush(stdout);
}

static void print_table(struct listing *l, const struct job_list *jobs)
{
	static const struct str head[LIST_COLUMNS] = { STR_INIT("NAMESPACE"), STR_INIT("NAME"),   STR_INIT("KIND"),
		                                       STR_INIT("STATE"),     STR_INIT("REASON"), STR_INIT("PODS"),
		                                       STR_INIT("RESTARTS"),  STR_INIT("AGE") };
	const struct str *first = l->all ? head : head + 1;
	struct str row[LIST_COLUMNS];

	table_fit(&l->table, first);
	for (size_t i = 0; i < jobs->jobs.n; i++) {
		make_row(l, &jobs->jobs.v[i], &l->arena, row);
		table_fit(&l->table, row);
	}
	table_print(&l->table, first, stdout);
	for (size_t i = 0; i < jobs->jobs.n; i++)
		show(l, &jobs->jobs.v[i]);
}

static enum exit_code print_objects(struct listing *l, const struct job_list *jobs, enum output_format format)
{
	struct object_list out = { .format = format };
	struct buf text = BUF_INIT(OBJECT_MAX);
	struct err e = ERR_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < jobs->jobs.n; i++) {
		buf_clear(&text);
		json_write_val(jobs->jobs.v[i].root, &text);
		ok = objects_put(&out, &text, &e);
	}
	objects_end(&out, ok);
	buf_release(&text);
	if (!ok)
		cli_fail(l->session.cli, CLI_FAILED, "%s", err_msg(&e));
	err_release(&e);
	return ok ? CLI_OK : CLI_FAILED;
}

static void print_name(const struct job_of *job)
{
	struct job_view v = job_view(job->root);

	plain_printf(stdout, "%.*s/%.*s\n", STR_F(job->kind->id), STR_F(v.name));
}

/* Rows of one kind as they change. */
struct kind_follow {
	struct listing *listing;
	const struct kind *kind;
};

static void on_put(void *cookie, yyjson_val *object)
{
	const struct kind_follow *f = cookie;

	show(f->listing, &(struct job_of){ f->kind, object });
}

static void on_job_gone(void *cookie, yyjson_val *object)
{
	struct kind_follow *f = cookie;
	struct listing *l = f->listing;
	struct job_of job = { f->kind, object };
	struct str row[LIST_COLUMNS];

	if (!map_get(&l->shown, json_str(json_at(object, "metadata", "uid", NULL))))
		return;
	make_row(l, &job, &l->arena, row);
	row[l->all ? COL_STATE : COL_STATE - 1] = STR("Deleted");
	table_print(&l->table, row, stdout);
	fflush(stdout);
}

static bool is_refused(void *cookie)
{
	const struct listing *l = cookie;
	struct str message;

	for (size_t i = 0; i < l->n_follows; i++)
		if (follow_refused(l->follows[i], &message))
			return true;
	return cli_output_broken();
}

static enum exit_code watch(struct listing *l, const struct job_list *jobs)
{
	struct kind_follow *cookies = arena_array(&l->arena, struct kind_follow, jobs->n);
	struct str ns = l->all ? STR_NONE : l->session.remote.ns, message;
	enum exit_code status = CLI_OK;
	int code;

	l->follows = arena_array(&l->arena, struct follow *, jobs->n);
	for (size_t i = 0; i < jobs->n; i++) {
		cookies[i] = (struct kind_follow){ l, kinds_at(l->session.kinds, i) };
		if (jobs->served[i])
			l->follows[l->n_follows++] =
				follow_new(&l->session.remote, remote_kind(cookies[i].kind), ns, str_c(l->selector),
			                   STR_NONE, &(struct follow_events){ on_put, on_job_gone, NULL, &cookies[i] });
	}
	if (!remote_wait(&l->session.remote, is_refused, l))
		status = l->session.cli->status;
	for (size_t i = 0; i < l->n_follows; i++) {
		code = follow_refused(l->follows[i], &message);
		if (code && status == CLI_OK)
			status = remote_refused(&l->session.remote, "watch the jobs", MAX(code, 0), message);
		follow_free(l->follows[i]);
	}
	return status;
}

static enum exit_code list(struct listing *l, const bool *kinds)
{
	struct job_query q = { .kinds = kinds,
		               .ns = l->all ? STR_NONE : l->session.remote.ns,
		               .selector = str_c(l->selector) };
	struct job_list jobs;
	size_t kept = 0;
	enum exit_code status = CLI_OK;

	if (!jobs_list(&l->session.remote, l->session.kinds, &q, &jobs)) {
		job_list_release(&jobs);
		return l->session.cli->status;
	}
	for (size_t i = 0; i < jobs.jobs.n; i++)
		if (is_wanted(l, jobs.jobs.v[i].root))
			jobs.jobs.v[kept++] = jobs.jobs.v[i];
	jobs.jobs.n = kept;
	if (kept)
		qsort(jobs.jobs.v, kept, sizeof(jobs.jobs.v[0]), by_age);
	if (!strcmp(l->output, "json"))
		status = print_objects(l, &jobs, FORMAT_JSON);
	else if (!strcmp(l->output, "yaml"))
		status = print_objects(l, &jobs, FORMAT_YAML);
	else if (!strcmp(l->output, "name"))
		for (size_t i = 0; i < kept; i++)
			print_name(&jobs.jobs.v[i]);
	else if (kept || l->watch)
		print_table(l, &jobs);
	else
		plain_printf(stderr, "no jobs%s%.*s%s\n", l->all ? "" : " in namespace ",
		             l->all ? 0 : (int)l->session.remote.ns.n, l->session.remote.ns.p,
		             l->all ? "" : "; -A lists all namespaces");
	if (l->watch)
		status = watch(l, &jobs);
	job_list_release(&jobs);
	return jobs.partial ? CLI_FAILED : status;
}

static bool is_output(const char *s)
{
	return !strcmp(s, "table") || !strcmp(s, "json") || !strcmp(s, "yaml") || !strcmp(s, "name");
}

static bool is_state(const char *s)
{
	for (int p = PHASE_INVALID; p < PHASE_COUNT; p++)
		if (str_eq_nocase(str_c(s), str_c(phase_name((enum phase)p))))
			return true;
	return str_eq_nocase(str_c(s), STR("Waiting")) || str_eq_nocase(str_c(s), STR("Deleting"));
}

/* The operands are kinds. */
static enum exit_code list_jobs(struct listing *l, int n, char **names)
{
	const bool *wanted;

	if (!session_find(&l->session, strcmp(l->output, "table") != 0))
		return l->session.cli->status;
	wanted = kinds_choose(l->session.cli, l->session.kinds, n, names);
	if (!wanted)
		return l->session.cli->status;
	l->table.columns = l->all ? LIST_COLUMNS : LIST_COLUMNS - 1;
	return list(l, wanted);
}

enum exit_code cmd_list(struct cli *cli, int argc, char **argv)
{
	struct listing l = { .session = { .cli = cli }, .output = "table" };
	struct opt opts[5 + REMOTE_OPTS] = {
		{ 'A', "all-namespaces", NULL, "the jobs of all namespaces", .flag = &l.all },
		{ 'l', "selector", "LABELS", "only jobs with these labels: a=b,c!=d", .text = &l.selector },
		{ 0, "state", "STATE", "only jobs in this state: Running, Failed …", .text = &l.state },
		{ 'o', "output", "table|json|yaml|name", "default: table", .text = &l.output },
		{ 'w', "watch", NULL, "keep running and print every change", .flag = &l.watch },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + 5, &l.session.flags);
	n = cli_parse(cli, opts, 5 + REMOTE_OPTS, argc, argv);
	if (n < 0)
		return cli->status;
	if (!is_output(l.output))
		return cli_usage(cli, "-o is table, json, yaml or name, not '%s'", l.output);
	if (l.watch && strcmp(l.output, "table") != 0)
		return cli_usage(cli, "-w shows a table; it does not work with -o %s", l.output);
	if (l.state && !is_state(l.state))
		return cli_usage(cli,
		                 "'%s' is not a state; these are: Waiting, Pending, Creating, Running, Restarting, "
		                 "Suspended, Terminating, Succeeded, Failed, TimedOut, Preempted, NodeFailed, Invalid "
		                 "and Deleting",
		                 l.state);
	status = list_jobs(&l, n, argv);
	map_release(&l.shown);
	arena_release(&l.arena);
	session_end(&l.session);
	return status;
}
