/* dljob suspend, dljob resume: spec.policy.suspend, or the annotation of kinds whose spec is a list. */
#include "base/yaml.h"
#include "cli/commands.h"
#include "client/jobs.h"
#include "client/view.h"
#include "term/plain.h"

enum { PATCH_MAX = 1 << 20 };

static bool put_flag(yyjson_mut_doc *doc, yyjson_mut_val *policy, bool suspend)
{
	return yyjson_mut_obj_put(policy, yyjson_mut_str(doc, "suspend"), yyjson_mut_bool(doc, suspend));
}

/* The whole policy stands in one text, which is read, changed and written again. */
static bool annotation_text(yyjson_val *root, bool suspend, struct buf *ret, struct err *e)
{
	struct str before = json_str(json_get(json_at(root, "metadata", "annotations", NULL), ANNOTATION_POLICY));
	CLEANUP(yaml_closep) struct yaml_file *yaml = NULL;
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *policy;

	if (str_trim(before).n) {
		yaml = yaml_parse(STR("annotation " ANNOTATION_POLICY), before, e);
		if (!yaml)
			return false;
	}
	policy = yaml && yaml_count(yaml) ? yyjson_val_mut_copy(doc, yaml_root(yaml, 0)) : yyjson_mut_obj(doc);
	if (!yyjson_mut_is_obj(policy))
		return err_set(e, ERR_INVALID, "annotation " ANNOTATION_POLICY " is not an object");
	put_flag(doc, policy, suspend);
	json_write(policy, ret);
	return true;
}

static bool has_list(const struct job_of *job)
{
	return job->kind->spec_is_array || yyjson_is_arr(json_get(job->root, "spec"));
}

static bool make_patch(const struct job_of *job, bool suspend, struct buf *ret, struct err *e)
{
	struct buf text = BUF_INIT(PATCH_MAX);
	bool ok = true;

	if (!has_list(job)) {
		buf_printf(ret, "{\"spec\":{\"policy\":{\"suspend\":%s}}}", suspend ? "true" : "false");
		return true;
	}
	ok = annotation_text(job->root, suspend, &text, e);
	if (ok) {
		buf_put(ret, STR("{\"metadata\":{\"annotations\":{\"" ANNOTATION_POLICY "\":"));
		buf_json_str(ret, buf_str(&text));
		buf_put(ret, STR("}}}"));
	}
	buf_release(&text);
	return ok;
}

static enum exit_code send_suspend(struct cli_session *s, const struct job_found *f, bool suspend)
{
	struct buf patch = BUF_INIT(PATCH_MAX);
	struct remote_call call = { .method = HTTP_PATCH,
		                    .path = job_path(&s->remote, f),
		                    .content_type = STR("application/merge-patch+json") };
	struct err e = ERR_INIT;
	enum exit_code status = CLI_OK;

	if (!make_patch(&f->job, suspend, &patch, &e)) {
		status = cli_fail(s->cli, CLI_INVALID, "%.*s: %s", STR_F(f->name), err_msg(&e));
		err_release(&e);
	} else {
		call.body = buf_str(&patch);
		if (!remote_do(&s->remote, &call, 1))
			status = s->cli->status;
		else if (!remote_ok(&call))
			status = remote_refused(&s->remote, suspend ? "suspend the job" : "resume the job", call.code,
			                        call.message);
		else
			plain_printf(stdout, "%.*s %s\n", STR_F(f->name),
			             suspend ? "is suspended: its pods are deleted until 'dljob resume'"
			                     : "is resumed: its pods are recreated");
		remote_call_release(&call);
	}
	buf_release(&patch);
	return status;
}

static enum exit_code change(struct cli_session *s, const char *name, bool suspend)
{
	struct job_found found;
	struct job_view v;
	struct kind_job *kj;
	bool already;
	enum exit_code status = CLI_OK;

	if (!job_find(&s->remote, s->kinds, name, &found))
		return s->cli->status;
	v = job_view(found.job.root);
	kj = kind_read(s->kinds, found.job.kind, found.job.root, STR_NONE, NULL);
	/* Of a kind that is not known here an annotation may say it. */
	already = kj && kind_job(kj)->suspend == suspend && !(found.job.kind->foreign && has_list(&found.job));
	kind_job_free(kj);
	if (phase_final(v.phase))
		status = cli_fail(s->cli, CLI_FAILED, "%.*s has ended (%.*s); 'dljob rerun %.*s' runs it again",
		                  STR_F(v.name), STR_F(v.state), STR_F(v.name));
	else if (!already)
		status = send_suspend(s, &found, suspend);
	else
		plain_printf(stdout, "%.*s is %s already\n", STR_F(v.name), suspend ? "suspended" : "not suspended");
	job_found_release(&found);
	return status;
}

static enum exit_code change_job(struct cli *cli, int argc, char **argv, bool suspend)
{
	struct cli_session s = { .cli = cli };
	struct opt opts[REMOTE_OPTS];
	enum exit_code status;
	int n;

	remote_opts(opts, &s.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		return cli->status;
	if (n == 0)
		return cli_usage(cli, "which job?");
	status = session_find(&s, false) ? CLI_OK : cli->status;
	for (int i = 0; i < n && status == CLI_OK; i++)
		status = change(&s, argv[i], suspend);
	session_end(&s);
	return status;
}

enum exit_code cmd_suspend(struct cli *cli, int argc, char **argv)
{
	return change_job(cli, argc, argv, true);
}

enum exit_code cmd_resume(struct cli *cli, int argc, char **argv)
{
	return change_job(cli, argc, argv, false);
}
