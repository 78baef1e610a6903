/* dljob get: one job as a tree, once or whenever it changes. */
#include "base/yaml.h"
#include "cli/get.h"

enum { OBJECT_TEXT = 64 << 20 };

bool get_gather(struct session *s, const struct job_found *f, struct gathered *ret)
{
	struct remote *r = &s->remote;
	struct str uid = json_str(json_at(f->job.root, "metadata", "uid", NULL));
	struct err e = ERR_INIT;

	*ret = (struct gathered){ 0 };
	ret->lists[0] = (struct remote_list){
		.resource = remote_pods,
		.options = { .ns = f->ns, .label_selector = arena_printf(&r->arena, LABEL_UID "=%.*s", STR_F(uid)) }
	};
	ret->lists[1] = (struct remote_list){ .resource = remote_events, .options = { .ns = f->ns } };
	if (!remote_lists(r, ret->lists, 2))
		return false;
	if (ret->lists[0].code != 200) {
		s->cli->status = remote_refused(r, "list its pods", ret->lists[0].code, ret->lists[0].message);
		return false;
	}
	ret->kj = kind_read(s->kinds, f->job.kind, f->job.root, STR_NONE, &e);
	if (!ret->kj) {
		s->cli->status = cli_fail(s->cli, CLI_FAILED, "%s", err_msg(&e));
		err_release(&e);
		return false;
	}
	ret->tree = (struct tree){ .kind = kind_title(s->kinds, f->job.kind),
		                   .root = f->job.root,
		                   .job = kind_job(ret->kj),
		                   .now = clock_now(&clock_wall) };
	/* A record that cannot be read is left alone by the operator too; the rest is shown. */
	ret->tree.record = record_read(json_at(f->job.root, "status", "dlOperator", NULL), &ret->arena, &e);
	err_release(&e);
	tree_take_pods(&ret->tree, &ret->arena, ret->lists[0].items.v, ret->lists[0].items.n);
	tree_take_events(&ret->tree, &ret->arena, ret->lists[1].items.v, ret->lists[1].items.n);
	return true;
}

void gathered_release(struct gathered *d)
{
	for (size_t i = 0; i < ARRAY_LEN(d->lists); i++)
		remote_list_release(&d->lists[i]);
	kind_job_free(d->kj);
	arena_release(&d->arena);
}

/* One object, not a List of one. */
static void print_object(yyjson_val *root, bool yaml)
{
	struct buf text = BUF_INIT(OBJECT_TEXT);
	char *pretty = NULL;

	if (yaml)
		yaml_write(root, &text);
	else
		pretty = yyjson_val_write(root, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
	fputs(yaml ? buf_str(&text).p : pretty, stdout);
	if (!yaml)
		putchar('\n');
	free(pretty);
	buf_release(&text);
}

static enum exit_code print_tree(struct session *s, const struct job_found *f)
{
	struct gathered d;
	bool well = get_gather(s, f, &d);

	if (well)
		tree_print(&d.tree, &d.arena, stdout);
	gathered_release(&d);
	return well ? CLI_WELL : s->cli->status;
}

static enum exit_code get(struct session *s, const char *name, const char *output, bool watch)
{
	struct job_found found;
	enum exit_code status = CLI_WELL;

	if (!job_find(&s->remote, s->kinds, name, &found))
		return s->cli->status;
	if (strcmp(output, "tree") != 0)
		print_object(found.job.root, !strcmp(output, "yaml"));
	else if (watch)
		status = get_watch(s, &found);
	else
		status = print_tree(s, &found);
	job_found_release(&found);
	return status;
}

enum exit_code cmd_get(struct cli *cli, int argc, char **argv)
{
	struct session s = { .cli = cli };
	const char *output = "tree";
	bool watch = false;
	struct opt opts[2 + REMOTE_OPTS] = {
		{ 'o', "output", "tree|json|yaml", "a tree unless said otherwise", .text = &output },
		{ 'w', "watch", NULL, "go on, and show it whenever it changes", .flag = &watch },
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
		return cli_usage(cli, "-w shows a tree; it has no -o %s", output);
	status = session_begin(&s, strcmp(output, "tree") != 0) ? get(&s, argv[0], output, watch) : cli->status;
	session_end(&s);
	return status;
}
