/* dljob validate: everything that is wrong with all jobs of all files. */
#include "base/map.h"
#include "cli/commands.h"
#include "client/report.h"

struct totals {
	size_t files, jobs;
	bool broken;     /* a kind's own code failed: that is no fault of the input */
	struct map seen; /* kind namespace/name → where it stands */
};

/* Whoever applies both keeps the last. */
static void check_twice(struct cli *cli, const char *file, const struct manifest *m, const struct manifest_object *o,
                        struct cli_report *r, struct totals *t)
{
	yyjson_val *meta = json_get(o->root, "metadata");
	struct str ns = json_str(json_get(meta, "namespace")), name = json_str(json_get(meta, "name")), key;
	struct yaml_pos pos = yaml_where(m->yaml, o->doc, manifest_path(&cli->arena, o, STR("metadata.name")));
	const char *before;

	if (!name.n)
		return;
	key = arena_printf(&cli->arena, "%.*s %.*s/%.*s", STR_F(o->kind->id), STR_F(ns.n ? ns : STR("default")),
	                   STR_F(name));
	before = map_get(&t->seen, key);
	if (before)
		report_line(r, REPORT_WARNING, file, pos, STR("metadata.name"),
		            arena_printf(&cli->arena,
		                         "the same job is also at %s; if both are applied, the last one wins", before));
	else
		map_put(&t->seen, key,
		        (void *)(uintptr_t)arena_printf(&cli->arena, "%s:%zu", strcmp(file, "-") ? file : "<stdin>",
		                                        pos.line)
		                .p);
}

static void check_job(struct cli *cli, struct kinds *kinds, const char *file, const struct manifest *m,
                      const struct manifest_object *o, struct cli_report *r, struct totals *t)
{
	struct err e = ERR_INIT;
	struct kind_job *kj = kind_read(kinds, o->kind, o->root, STR_NONE, &e);

	t->jobs++;
	if (kj) {
		kind_check_fields(kj, cli_unknown_fields(cli));
		report_job(r, file, m, o, &kind_job(kj)->problems);
		check_twice(cli, file, m, o, r, t);
		kind_job_free(kj);
		return;
	}
	t->broken = true;
	report_kind(r, o->kind, str_c(err_msg(&e)));
	err_release(&e);
}

static void check_file(struct cli *cli, struct kinds *kinds, const char *file, struct cli_report *r, struct totals *t)
{
	struct manifest_object o;
	struct manifest m;
	size_t errors = r->errors;

	t->files++;
	if (!report_open(r, file, kinds, &cli->arena, &m))
		return;
	while (manifest_next(&m, &o)) {
		if (o.class == OBJECT_JOB)
			check_job(cli, kinds, file, &m, &o, r, t);
		else
			report_object(r, file, &m, &o);
		if (o.class == OBJECT_FOREIGN)
			report_config(r, file, &m, &o);
	}
	if (!m.jobs && r->errors == errors)
		report_line(r, REPORT_ERROR, file, (struct yaml_pos){ 0, 0 }, STR_NONE,
		            arena_printf(&cli->arena, "there is no job in it: %.*s", STR_F(manifest_without_job(&m))));
	yaml_close(m.yaml);
}

static const char *s(size_t n)
{
	return n == 1 ? "" : "s";
}

enum exit_code cmd_validate(struct cli *cli, int argc, char **argv)
{
	CLEANUP(kinds_freep) struct kinds *kinds = NULL;
	struct totals t = { 0 };
	struct opt opts[SIZE_OPTS];
	struct cli_report r;
	int n;

	cli_size_opts(cli, opts);
	n = cli_parse(cli, opts, SIZE_OPTS, argc, argv);
	if (n < 0)
		return cli->status;
	if (n == 0)
		return cli_usage(cli, "which FILE?");
	kinds = cli_kinds(cli);
	if (!kinds)
		return cli->status;
	r = report_to(stdout);
	r.unknown = cli_unknown_fields(cli);
	for (int i = 0; i < n; i++)
		check_file(cli, kinds, argv[i], &r, &t);
	printf("%zu job%s in %zu file%s: ", t.jobs, s(t.jobs), t.files, s(t.files));
	if (r.errors)
		printf("%zu error%s", r.errors, s(r.errors));
	else
		fputs("valid", stdout);
	if (r.warnings)
		printf(", %zu warning%s", r.warnings, s(r.warnings));
	putchar('\n');
	map_release(&t.seen);
	return t.broken ? CLI_FAILED : r.errors ? CLI_INVALID : CLI_OK;
}
