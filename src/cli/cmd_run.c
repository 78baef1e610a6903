/* dljob run: one job on this machine, from its start to its end. */
#include "cli/commands.h"
#include "client/objects.h"
#include "run/run.h"
#include "term/plain.h"

enum { OWN_OPTS = 12, ALL_OPTS = OWN_OPTS + WRITE_OPTS + SIZE_OPTS };

/* -o: what would run, as a file for a cluster. */
static enum exit_code print_job(struct cli *cli, const struct run_options *o, const char *output)
{
	struct write_options w = o->command;
	CLEANUP(kinds_freep) struct kinds *kinds = NULL;
	CLEANUP(json_docp) yyjson_doc *doc = NULL;
	struct buf text = BUF_INIT(OBJECT_MAX);
	struct object_list out = { 0 };
	struct err e = ERR_INIT;

	if (!cli_format(cli, output, &out.format))
		return cli->status;
	kinds = cli_kinds(cli);
	w.cluster = true;
	doc = kinds ? write_job(cli, kinds, &w, &o->edits, NULL) : NULL;
	if (!doc)
		return cli->status;
	json_write_val(yyjson_doc_get_root(doc), &text);
	cli->status = CLI_OK;
	if (out.format == FORMAT_JSON) {
		plain_put_json(buf_str(&text), stdout);
		putchar('\n');
	} else if (!objects_put(&out, &text, &e)) {
		cli->status = cli_fail(cli, CLI_FAILED, "%s", err_msg(&e));
	}
	objects_end(&out, false);
	buf_release(&text);
	err_release(&e);
	return cli->status;
}

/* Files say themselves how many replicas of what they have. */
static enum exit_code run_files(struct cli *cli, const struct run_options *o, const char *output, int n, char **files)
{
	const char *given = write_given(&o->command);
	int64_t number;

	if (o->command.replicas && !str_int(str_c(o->command.replicas), &number))
		return cli_usage(cli,
		                 "-n is the number of replicas, not a namespace: '%s' is no number. A job of "
		                 "'dljob run' is alone on this machine, in the namespace that its file names",
		                 o->command.replicas);
	if (n && (given || output))
		return cli_usage(cli,
		                 "%s is for a command after --: '-n 3 -- python train.py'; %s is read as "
		                 "a file, which --set changes",
		                 given ? given : "-o", files[0]);
	if (n == 0)
		return cli_usage(cli, given || output ? "which command? Write it after --: -n 3 -- python train.py"
		                                      : "which FILE, or which command after --?");
	return run_job(cli, o, n, files);
}

static bool is_manifest(const char *word)
{
	return str_has_suffix(str_c(word), STR(".yaml")) || str_has_suffix(str_c(word), STR(".yml")) ||
	       str_has_suffix(str_c(word), STR(".json"));
}

static enum exit_code run_what(struct cli *cli, struct run_options *o, const char *output, int n, char **files)
{
	if (!o->command.n_command)
		return run_files(cli, o, output, n, files);
	if (o->command.n_command == 1 && is_manifest(o->command.command[0]))
		return cli_usage(cli, "'%s' is a file: omit the --", o->command.command[0]);
	if (n)
		return cli_usage(cli, "'%s' before '--': give a file or a command, not both", files[0]);
	return output ? print_job(cli, o, output) : run_job(cli, o, 0, NULL);
}

enum exit_code cmd_run(struct cli *cli, int argc, char **argv)
{
	struct run_options o = { 0 };
	const char *output = NULL;
	struct opt opts[ALL_OPTS] = {
		{ 'e', "env", "NAME=VALUE", "set a variable in all containers; NAME alone passes on yours",
		  .list = &o.edits.env },
		{ 0, "set", "PATH=VALUE", "change a field: spec.policy.restart.limit=3", .list = &o.edits.set },
		{ 'o', "output", "yaml|json", "run nothing, print the command's job for a cluster", .text = &output },
		{ 0, "volume", "NAME=DIR", "mount DIR for the volume or PVC NAME", .list = &o.volumes },
		{ 0, "rootfs", "IMAGE=DIR", "run containers of IMAGE in the directory tree DIR", .list = &o.rootfs },
		{ 0, "timeout", "TIME", "stop the job after TIME (90s, 2h): exit status 124", .text = &o.timeout },
		{ 0, "kill", "ROLE/INDEX@SECONDS", "kill a replica this long after its start", .list = &o.kills },
		{ 0, "keep", NULL, "keep the pods' folders and logs, and print where", .flag = &o.keep },
		{ 0, "host-network", NULL, "all replicas share the machine's network", .flag = &o.host_network },
		{ 0, "without-gpus", NULL, "run replicas that request GPUs without any", .flag = &o.without_gpus },
		{ 0, "color", "WHEN", "auto, always or never", .text = &o.color },
		{ 'q', "quiet", NULL, "print only the replicas' output and errors", .flag = &o.quiet },
	};
	enum exit_code status;
	int n, before = cli_dashes(argc, argv);

	write_opts(opts + OWN_OPTS, &o.command);
	cli_size_opts(cli, opts + OWN_OPTS + WRITE_OPTS);
	n = cli_parse(cli, opts, ARRAY_LEN(opts), before, argv);
	if (before < argc) {
		o.command.n_command = argc - before - 1;
		o.command.command = argv + before + 1;
	}
	status = n < 0 ? cli->status : run_what(cli, &o, output, n, argv);
	edits_release(&o.edits);
	opt_list_release(&o.volumes);
	opt_list_release(&o.rootfs);
	opt_list_release(&o.kills);
	return status;
}
