/* dljob crds: the CustomResourceDefinitions of the kinds. */
#include "cli/commands.h"
#include "client/jobs.h"
#include "client/objects.h"

static bool put_crd(struct kinds *kinds, const struct kind *kind, struct object_list *out, struct err *e)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *crd = kind_crd(kinds, kind, doc, e);
	struct buf text = BUF_INIT(OBJECT_MAX);
	bool ok;

	if (!crd)
		return false;
	json_write(crd, &text);
	ok = objects_put(out, &text, e);
	buf_release(&text);
	return ok;
}

enum exit_code cmd_crds(struct cli *cli, int argc, char **argv)
{
	const char *output = "yaml";
	const struct opt opts[] = { {
		.letter = 'o',
		.name = "output",
		.value = "yaml|json",
		.help = "YAML documents (default), or one List",
		.text = &output,
	} };
	CLEANUP(kinds_freep) struct kinds *kinds = NULL;
	struct err e = ERR_INIT;
	struct object_list out = { 0 };
	const bool *wanted;
	bool ok = true;
	int n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);

	if (n < 0 || !cli_format(cli, output, &out.format))
		return cli->status;
	kinds = cli_kinds(cli);
	if (!kinds)
		return cli->status;
	wanted = kinds_choose(cli, kinds, n, argv);
	if (!wanted)
		return cli->status;
	for (size_t i = 0; ok && i < kinds_count(kinds); i++)
		if (wanted[i])
			ok = put_crd(kinds, kinds_at(kinds, i), &out, &e);
	objects_end(&out, ok);
	if (!ok)
		cli_fail(cli, CLI_FAILED, "%s", err_msg(&e));
	err_release(&e);
	return ok ? CLI_OK : CLI_FAILED;
}
