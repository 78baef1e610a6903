/* dljob get: one job as a tree, once or whenever it changes. */
#include "base/yaml.h"
#include "cli/commands.h"
#include "client/gather.h"
#include "client/watching.h"
#include "term/plain.h"

enum { OBJECT_TEXT = 64 << 20 };

/* One object, not a List of one. */
static void print_object(yyjson_val *root, bool yaml)
{
	struct buf text = BUF_INIT(OBJECT_TEXT);
	char *pretty = NULL;

	if (yaml)
		yaml_write(root, &text);
	else
		pretty = yyjson_val_write(root, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
	if (yaml) {
		fputs(buf_str(&text).p, stdout);
	} else {
		plain_put_json(str_c(pretty), stdout);
		putchar('\n');
	}
	free(pretty);
	buf_release(&text);
}

static enum exit_code print_tree(struct cli_session *s, const struct job_found *f)
{
	struct gathered d;
	bool ok = gather_job(s, f, &d);

	if (ok)
		tree_print(&d.tree, &d.arena, stdout);
	gathered_release(&d);
	return ok ? CLI_OK : s->cli->status;
}

static enum exit_code get(struct cli_session *s, const char *name, const char *output, bool watch)
{
	struct job_found found;
	enum exit_code status = CLI_OK;

	if (!job_find(&s->remote, s->kinds, name, &found))
		return s->cli->status;
	if (strcmp(output, "tree") != 0)
		print_object(found.job.root, !strcmp(output, "yaml"));
	else if (watch)
		status = job_watch(s, &found);
	else
		status = print_tree(s, &found);
	job_found_release(&found);
	return status;
}

enum exit_code cmd_get(struct cli *cli, int argc, char **argv)
{
	struct cli_session s = { .cli = cli };
	const char *output = "tree";
	bool watch = false;
	struct opt opts[2 + REMOTE_OPTS] = {
		{ 'o', "output", "tree|json|yaml", "default: tree", .text = &output },
		{ 'w', "watch", NULL, "keep running and redraw it on every change", .flag = &watch },
	};
	enum exit_code status;
	int n;

	remote_opts(opts + 2, &s.flags);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);
	if (n < 0)
		return cli->status;
	if (n != 1)
		return cli_usage(cli, n ? "one job at a time" : "which job?");
	if (strcmp(output, "tree") != 0 && strcmp(output, "json") != 0 && strcmp(output, "yaml") != 0)
		return cli_usage(cli, "-o is tree, json or yaml, not '%s'", output);
	if (watch && strcmp(output, "tree") != 0)
		return cli_usage(cli, "-w shows a tree; it does not work with -o %s", output);
	status = session_find(&s, strcmp(output, "tree") != 0) ? get(&s, argv[0], output, watch) : cli->status;
	session_end(&s);
	return status;
}
