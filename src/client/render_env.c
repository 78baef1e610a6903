/* The variables of a job's containers as a table. */
#include "base/json.h"
#include "client/render.h"
#include "term/table.h"

enum { COLUMN_ROLE, COLUMN_INDEX, COLUMN_CONTAINER, COLUMN_NAME, COLUMN_VALUE, COLUMNS };

struct env_table {
	struct table table;
	struct arena arena; /* of one pod */
	bool print;         /* false: only find out how wide the columns are */
};

/* A value that the kubelet fills in: "<fieldRef metadata.name>". */
static struct str reference(struct arena *a, yyjson_val *from)
{
	yyjson_val *key = NULL, *ref = NULL;
	struct buf text = BUF_INIT(4096);
	struct str s;

	if (yyjson_obj_size(from) > 0) {
		key = unsafe_yyjson_get_first(from);
		ref = yyjson_obj_iter_get_val(key);
	}
	if (!ref)
		return STR("<empty>");
	json_write_val(ref, &text);
	s = arena_printf(a, "<%.*s %.*s>", STR_F(json_str(key)), STR_F(buf_str(&text)));
	buf_release(&text);
	return s;
}

static void put_container(struct env_table *t, const struct role *role, struct str index, yyjson_val *container)
{
	yyjson_val *env;
	size_t i, n;

	yyjson_arr_foreach(json_get(container, "env"), i, n, env)
	{
		yyjson_val *from = json_get(env, "valueFrom");
		struct str row[COLUMNS] = {
			[COLUMN_ROLE] = role->name,
			[COLUMN_INDEX] = index,
			[COLUMN_CONTAINER] = json_str(json_get(container, "name")),
			[COLUMN_NAME] = json_str(json_get(env, "name")),
			[COLUMN_VALUE] = from ? reference(&t->arena, from) : json_str(json_get(env, "value")),
		};

		if (t->print)
			table_print(&t->table, row, stdout);
		else
			table_fit(&t->table, row);
	}
}

static bool put_pod(struct env_table *t, struct kind_job *kj, size_t r, int32_t index, struct buf *text, struct err *e)
{
	static const char *const lists[] = { "initContainers", "containers" };
	CLEANUP(json_docp) yyjson_doc *doc = NULL;
	struct str number = arena_printf(&t->arena, "%d", index);
	yyjson_val *container;
	size_t i, n;

	buf_clear(text);
	if (!kind_pod(kj, r, index, 0, 0, text, e))
		return false;
	if (text->overflow)
		return err_set(e, ERR_LIMIT, "a pod has more than %zu bytes", text->max);
	doc = yyjson_read(text->p, text->n, 0);
	ASSERT(doc);
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		yyjson_arr_foreach(json_at(yyjson_doc_get_root(doc), "spec", lists[l], NULL), i, n, container)
			put_container(t, &kind_job(kj)->roles[r], number, container);
	arena_reset(&t->arena);
	return true;
}

static bool put_pods(struct env_table *t, struct kind_job *kj, const struct replica_selection *s, struct buf *text,
                     struct err *e)
{
	const struct job *job = kind_job(kj);

	for (size_t r = 0; r < job->n_roles; r++) {
		const struct role *role = &job->roles[r];

		for (int32_t i = 0; i < role->count; i++) {
			/* The replicas of a role have the same variables, and the last has the longest index. */
			if (!selection_has(s, role, i) || (!t->print && i + 1 < role->count && s->index < 0))
				continue;
			if (!put_pod(t, kj, r, i, text, e))
				return false;
			if (cli_output_broken())
				return true;
		}
	}
	return true;
}

bool render_env(struct kind_job *kj, const struct replica_selection *s, struct err *e)
{
	static const struct str head[COLUMNS] = { STR_INIT("ROLE"), STR_INIT("INDEX"), STR_INIT("CONTAINER"),
		                                  STR_INIT("NAME"), STR_INIT("VALUE") };
	struct env_table t = { .table = { .columns = COLUMNS }, .arena = ARENA_INIT };
	struct buf text = BUF_INIT(OBJECT_MAX);
	bool ok;

	table_fit(&t.table, head);
	ok = put_pods(&t, kj, s, &text, e);
	if (ok) {
		table_print(&t.table, head, stdout);
		t.print = true;
		ok = put_pods(&t, kj, s, &text, e);
	}
	buf_release(&text);
	arena_release(&t.arena);
	return ok;
}
