/* dljob init: a manifest to begin with. */
#include "cli/commands.h"
#include "client/write.h"

#include <errno.h>
#include <unistd.h>

enum { TEXT_MAX = 16 << 20, OWN_OPTS = 2 };

static char *default_command[] = { (char[]){ "python" }, (char[]){ "train.py" } };

/* A file that is there is somebody's work. */
static enum exit_code put_file(struct cli *cli, const char *path, struct str text)
{
	FILE *f = fopen(path, "wxe"); /* x: what is there now is ours */
	bool ok = f && fwrite(text.p, 1, text.n, f) == text.n;
	int why = errno;

	if (!f)
		return cli_fail(cli, CLI_FAILED, "%s: %s", path,
		                why == EEXIST ? "already exists and is left unchanged" : strerror(why));
	if (fclose(f) != 0) {
		why = errno;
		ok = false;
	}
	if (ok)
		return CLI_OK;
	/* Half a manifest would be in the way of the next try. */
	unlink(path);
	return cli_fail(cli, CLI_FAILED, "%s: %s", path, strerror(why));
}

static enum exit_code init(struct cli *cli, const struct write_options *o, const struct job_edits *edits,
                           const char *file)
{
	CLEANUP(kinds_freep) struct kinds *kinds = cli_kinds(cli);
	CLEANUP(json_docp) yyjson_doc *doc = NULL;
	struct buf text = BUF_INIT(TEXT_MAX);
	enum exit_code status = CLI_OK;

	doc = kinds ? write_job(cli, kinds, o, edits, NULL) : NULL;
	if (!doc)
		return cli->status;
	write_explained(yyjson_doc_get_root(doc), &text);
	if (file && strcmp(file, "-") != 0)
		status = put_file(cli, file, buf_str(&text));
	else
		fwrite(buf_str(&text).p, 1, text.n, stdout);
	buf_release(&text);
	return status;
}

enum exit_code cmd_init(struct cli *cli, int argc, char **argv)
{
	struct write_options o = { .cluster = true,
		                   .n_command = ARRAY_LEN(default_command),
		                   .command = default_command };
	struct job_edits edits = { 0 };
	struct opt opts[OWN_OPTS + WRITE_OPTS] = {
		{ 'e', "env", "NAME=VALUE", "set a variable in all containers; NAME alone passes on yours",
		  .list = &edits.env },
		{ 0, "set", "PATH=VALUE", "change a field: spec.policy.restart.limit=3", .list = &edits.set },
	};
	enum exit_code status;
	int n, before = cli_dashes(argc, argv);

	write_opts(opts + OWN_OPTS, &o);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), before, argv);
	if (before < argc) {
		o.n_command = argc - before - 1;
		o.command = argv + before + 1;
	}
	if (n < 0)
		status = cli->status;
	else if (n > 1)
		status = cli_usage(cli, "at most one FILE, and the command after --; not '%s'", argv[1]);
	else
		status = init(cli, &o, &edits, n ? argv[0] : NULL);
	edits_release(&edits);
	return status;
}
