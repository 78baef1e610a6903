/* dljob scale: another number of replicas, in the kind's own field. */
#include "cli/commands.h"
#include "client/edit.h"
#include "client/jobs.h"
#include "client/view.h"
#include "job/problems.h"
#include "term/plain.h"

enum { PATCH_MAX = 64 << 10, ROLES_MAX = 64 };

struct resize {
	struct str role;
	int64_t count;
	const struct role *found;
};

/* ROLE=N */
static bool read_change(struct cli *cli, const char *text, struct resize *ret)
{
	const char *equals = strchr(text, '=');

	*ret = (struct resize){ 0 };
	if (!equals || equals == text || !str_int(str_c(equals + 1), &ret->count) || ret->count < 0 ||
	    ret->count > JOB_MAX_REPLICAS) {
		cli->status = cli_usage(cli, "'%s' is not ROLE=N, such as worker=4", text);
		return false;
	}
	ret->role = (struct str){ text, (size_t)(equals - text) };
	return true;
}

static bool find_role(struct cli *cli, const struct job *job, struct resize *c)
{
	struct str all = STR_NONE;

	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *r = &job->roles[i];

		if (str_eq_nocase(c->role, r->name) || str_eq_nocase(c->role, r->title))
			c->found = r;
		if (!r->aux)
			all = arena_printf(&cli->arena, "%.*s%s%.*s", STR_F(all), all.n ? ", " : "", STR_F(r->name));
	}
	if (c->found && !c->found->aux && c->found->count_path.n)
		return true;
	if (c->found && !c->found->aux)
		cli->status = cli_fail(cli, CLI_FAILED,
		                       "no operator has noted yet where %.*s says how many %.*s there are: --kinds-dir "
		                       "with the kind's Lua tells it",
		                       STR_F(job->name), STR_F(c->found->name));
	else if (c->found)
		cli->status = cli_fail(cli, CLI_INVALID, "%.*s is always one pod", STR_F(c->found->name));
	else
		cli->status = cli_fail(cli, CLI_INVALID, "%.*s has no role %.*s; it has %.*s", STR_F(job->name),
		                       STR_F(c->role), STR_F(all));
	return false;
}

/* spec.replicaSpecs[1].replicas and ["a/b"] as /spec/replicaSpecs/1/replicas and /a~1b. */
static void put_pointer(struct buf *out, struct str path)
{
	bool quoted = false;

	buf_putc(out, '/');
	for (size_t i = 0; i < path.n; i++) {
		char c = path.p[i];

		if (c == '"')
			quoted = !quoted;
		else if (quoted && c == '\\' && i + 1 < path.n)
			buf_putc(out, path.p[++i]);
		else if (!quoted && (c == '.' || c == '['))
			buf_putc(out, '/');
		else if (!quoted && c == ']')
			continue;
		else if (c == '~' || c == '/')
			buf_put(out, c == '~' ? STR("~0") : STR("~1"));
		else
			buf_putc(out, c);
	}
}

/* Lists cannot be reached by a merge patch. UID and generation make sure that [1] is still who it was, whatever the
   operator has written into the status meanwhile. */
static void make_patch(const struct job_found *f, const struct resize *changes, size_t n, struct buf *out)
{
	yyjson_val *meta = json_get(f->job.root, "metadata");
	int64_t generation = 0;

	json_int(json_get(meta, "generation"), &generation);
	buf_put(out, STR("[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":"));
	buf_json_str(out, json_str(json_get(meta, "uid")));
	buf_printf(out, "},{\"op\":\"test\",\"path\":\"/metadata/generation\",\"value\":%lld}", (long long)generation);
	for (size_t i = 0; i < n; i++) {
		struct buf pointer = BUF_INIT(PATCH_MAX);

		put_pointer(&pointer, changes[i].found->count_path);
		buf_put(out, STR(",{\"op\":\"add\",\"path\":"));
		buf_json_str(out, buf_str(&pointer));
		buf_printf(out, ",\"value\":%lld}", (long long)changes[i].count);
		buf_release(&pointer);
	}
	buf_putc(out, ']');
}

/* Would the kind still take it? What it says is what dljob validate would say. */
static bool check_resized(struct cli_session *s, const struct job_found *f, const struct resize *changes, size_t n)
{
	struct job_edits edits = { 0 };
	struct err e = ERR_INIT;
	CLEANUP(json_docp) yyjson_doc *after = NULL;
	struct kind_job *kj = NULL;
	bool ok = false;

	for (size_t i = 0; i < n; i++)
		opt_list_add(&edits.set, arena_printf(&s->cli->arena, "%.*s=%lld", STR_F(changes[i].found->count_path),
		                                      (long long)changes[i].count)
		                                 .p);
	after = edits_apply(&edits, f->job.root, &e);
	if (after)
		kj = kind_read(s->kinds, f->job.kind, yyjson_doc_get_root(after), STR_NONE, &e);
	if (!kj) {
		s->cli->status = cli_fail(s->cli, CLI_FAILED, "%s", err_msg(&e));
	} else if (kind_job(kj)->problems.errors) {
		struct str line = problems_line(&kind_job(kj)->problems, &s->cli->arena);

		s->cli->status = cli_fail(s->cli, CLI_INVALID, "%.*s cannot be scaled like this: %.*s", STR_F(f->name),
		                          STR_F(line));
	} else {
		ok = true;
	}
	kind_job_free(kj);
	edits_release(&edits);
	err_release(&e);
	return ok;
}

static enum exit_code send_resize(struct cli_session *s, const struct job_found *f, const struct resize *changes,
                                  size_t n)
{
	struct buf patch = BUF_INIT(PATCH_MAX);
	struct remote_call call = { .method = HTTP_PATCH,
		                    .path = job_path(&s->remote, f),
		                    .content_type = STR("application/json-patch+json") };
	enum exit_code status = CLI_OK;

	make_patch(f, changes, n, &patch);
	call.body = buf_str(&patch);
	if (!remote_do(&s->remote, &call, 1))
		status = s->cli->status;
	else if (call.code == HTTP_CONFLICT || call.code == HTTP_INVALID)
		status = cli_fail(s->cli, CLI_FAILED,
		                  "%.*s was changed by somebody else in the meantime, or refused: %.*s", STR_F(f->name),
		                  STR_F(call.message));
	else if (!remote_ok(&call))
		status = remote_refused(&s->remote, "scale the job", call.code, call.message);
	for (size_t i = 0; i < n && status == CLI_OK; i++)
		plain_printf(stdout, "%.*s: %.*s from %d to %lld replicas; %s\n", STR_F(f->name),
		             STR_F(changes[i].found->name), changes[i].found->count, (long long)changes[i].count,
		             changes[i].found->count == changes[i].count ? "nothing changes"
		             : changes[i].found->elastic                 ? "the others keep running"
		                                                         : "the whole job restarts, not counted");
	remote_call_release(&call);
	buf_release(&patch);
	return status;
}

static enum exit_code scale(struct cli_session *s, const char *name, struct resize *changes, size_t n)
{
	struct job_found found;
	struct kind_job *kj = NULL;
	struct err e = ERR_INIT;
	enum exit_code status = CLI_OK;
	struct job_view v;

	if (!job_find(&s->remote, s->kinds, name, &found))
		return s->cli->status;
	v = job_view(found.job.root);
	if (phase_final(v.phase))
		status = cli_fail(s->cli, CLI_FAILED, "%.*s has ended (%.*s); 'dljob rerun %.*s' runs it again",
		                  STR_F(v.name), STR_F(v.state), STR_F(v.name));
	else
		kj = kind_read(s->kinds, found.job.kind, found.job.root, STR_NONE, &e);
	if (status == CLI_OK && !kj)
		status = cli_fail(s->cli, CLI_FAILED, "%s", err_msg(&e));
	for (size_t i = 0; i < n && status == CLI_OK; i++)
		if (!find_role(s->cli, kind_job(kj), &changes[i]))
			status = s->cli->status;
	if (status == CLI_OK)
		status = check_resized(s, &found, changes, n) ? send_resize(s, &found, changes, n) : s->cli->status;
	kind_job_free(kj);
	err_release(&e);
	job_found_release(&found);
	return status;
}

enum exit_code cmd_scale(struct cli *cli, int argc, char **argv)
{
	struct cli_session s = { .cli = cli };
	struct opt opts[REMOTE_OPTS];
	struct resize changes[ROLES_MAX];
	enum exit_code status;
	int n;

	remote_opts(opts, &s.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		return cli->status;
	if (n < 2 || n > ROLES_MAX)
		return cli_usage(cli, n == 0 ? "which job?" : "which role, and how many replicas? worker=4");
	for (int i = 1; i < n; i++)
		if (!read_change(cli, argv[i], &changes[i - 1]))
			return cli->status;
	status = session_find(&s, false) ? scale(&s, argv[0], changes, (size_t)n - 1) : cli->status;
	session_end(&s);
	return status;
}
