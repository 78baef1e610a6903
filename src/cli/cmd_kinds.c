/* dljob kinds: a line for each kind, or one of them tried. */
#include "cli/commands.h"
#include "client/kind_check.h"
#include "term/table.h"

static struct str short_names(struct arena *a, const struct kind *k)
{
	struct str all = STR_NONE;

	for (size_t i = 0; i < k->n_short_names; i++)
		all = arena_printf(a, "%.*s%s%.*s", STR_F(all), i ? "," : "", STR_F(k->short_names[i]));
	return all;
}

enum exit_code cmd_kinds(struct cli *cli, int argc, char **argv)
{
	static const struct str head[] = { STR_INIT("KIND"), STR_INIT("APIVERSION"), STR_INIT("PLURAL"),
		                           STR_INIT("SHORT"), STR_INIT("FILE") };
	struct table table = { .columns = ARRAY_LEN(head) };
	CLEANUP(kinds_freep) struct kinds *kinds = NULL;
	struct str(*rows)[ARRAY_LEN(head)];
	const char *check = NULL;
	struct opt opts[] = {
		{ 0, "check", "FILE", "try this kind with the jobs of EXAMPLEs, or of files beside it",
		  .text = &check },
	};
	int n = cli_parse(cli, opts, ARRAY_LEN(opts), argc, argv);

	if (n < 0)
		return cli->status;
	if (check)
		return kind_check_file(cli, check, n, argv);
	if (n > 0)
		return cli_usage(cli, "takes no arguments without --check");
	kinds = cli_kinds(cli);
	if (!kinds)
		return cli->status;

	rows = arena_alloc(&cli->arena, kinds_count(kinds) * sizeof(*rows));
	table_fit(&table, head);
	for (size_t i = 0; i < kinds_count(kinds); i++) {
		const struct kind *k = kinds_at(kinds, i);

		rows[i][0] = k->kind;
		rows[i][1] = arena_printf(&cli->arena, "%.*s/%.*s", STR_F(k->group), STR_F(k->version));
		rows[i][2] = k->plural;
		rows[i][3] = short_names(&cli->arena, k);
		rows[i][4] = k->file;
		table_fit(&table, rows[i]);
	}
	table_print(&table, head, stdout);
	for (size_t i = 0; i < kinds_count(kinds); i++)
		table_print(&table, rows[i], stdout);
	return CLI_OK;
}
