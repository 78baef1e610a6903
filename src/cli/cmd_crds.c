/* dljob crds: the CustomResourceDefinitions of the kinds. */
#include "cli/cli.h"
#include "cli/objects.h"

static bool is_named(const struct kind *k, struct str name)
{
	struct arena a = ARENA_INIT;
	bool found = str_eq_nocase(name, k->kind) || str_eq_nocase(name, k->plural) ||
	             str_eq_nocase(name, k->singular) || str_eq_nocase(name, k->id) ||
	             str_eq_nocase(name, arena_printf(&a, "%.*s.%.*s", STR_F(k->plural), STR_F(k->group)));

	for (size_t i = 0; i < k->n_short_names; i++)
		found = found || str_eq_nocase(name, k->short_names[i]);
	arena_release(&a);
	return found;
}

/* Which kinds are meant; false with the usage error said if a name fits none. */
static bool choose(struct cli *cli, const struct kinds *kinds, int n, char **names, bool *wanted)
{
	for (size_t i = 0; i < kinds_count(kinds); i++)
		wanted[i] = n == 0;
	for (int j = 0; j < n; j++) {
		bool any = false;

		for (size_t i = 0; i < kinds_count(kinds); i++)
			if (is_named(kinds_at(kinds, i), str_c(names[j])))
				wanted[i] = any = true;
		if (!any) {
			cli->status = cli_fail(cli, CLI_INVALID, "there is no kind '%s'; see 'dljob kinds'", names[j]);
			return false;
		}
	}
	return true;
}

static bool put_crd(struct kinds *kinds, const struct kind *kind, struct objects *out, struct err *e)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *crd = kind_crd(kinds, kind, doc, e);
	struct buf text = BUF_INIT(OBJECT_MAX);
	bool well;

	if (!crd)
		return false;
	json_write(crd, &text);
	well = objects_put(out, &text, e);
	buf_release(&text);
	return well;
}

enum exit_code cmd_crds(struct cli *cli, int argc, char **argv)
{
	const char *output = "yaml";
	const struct opt opts[] = { {
		.letter = 'o',
		.name = "output",
		.value = "yaml|json",
		.help = "documents of YAML, or one List",
		.text = &output,
	} };
	CLEANUP(kinds_freep) struct kinds *kinds = NULL;
	struct err e = ERR_INIT;
	struct objects out = { 0 };
	bool *wanted;
	bool well = true;
	int n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);

	if (n < 0 || !cli_format(cli, output, &out.format))
		return cli->status;
	kinds = cli_kinds(cli);
	if (!kinds)
		return cli->status;
	wanted = arena_array(&cli->arena, bool, kinds_count(kinds));
	if (!choose(cli, kinds, n, argv, wanted))
		return cli->status;
	for (size_t i = 0; well && i < kinds_count(kinds); i++)
		if (wanted[i])
			well = put_crd(kinds, kinds_at(kinds, i), &out, &e);
	objects_end(&out, well);
	if (!well)
		cli_fail(cli, CLI_FAILED, "%s", err_msg(&e));
	err_release(&e);
	return well ? CLI_WELL : CLI_FAILED;
}
