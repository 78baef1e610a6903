#include "local/api/table.h"

#include "local/api/crd.h"
#include "local/api/table_cells.h"

#include <stdarg.h>

enum { COLUMNS_MAX = 64 };

/* A column of a CRD. */
struct custom_column {
	struct str name, type, format, description, path;
	int64_t priority;
};

struct api_table {
	const struct table_type *builtin; /* NULL: */
	struct custom_column custom[COLUMNS_MAX];
	size_t n_custom;
	struct arena arena;
};

/* Cells */

static void begin(struct table_cells *c)
{
	if (c->n++)
		buf_putc(c->out, ',');
}

void cell_text(struct table_cells *c, struct str s)
{
	begin(c);
	buf_json_str(c->out, s);
}

void cell_textf(struct table_cells *c, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cell_text(c, str_c(text));
}

void cell_or_none(struct table_cells *c, struct str s)
{
	cell_text(c, s.n ? s : STR("<none>"));
}

void cell_int(struct table_cells *c, int64_t n)
{
	begin(c);
	buf_printf(c->out, "%lld", (long long)n);
}

void cell_bool(struct table_cells *c, bool v)
{
	begin(c);
	buf_put(c->out, v ? STR("true") : STR("false"));
}

void cell_null(struct table_cells *c)
{
	begin(c);
	buf_put(c->out, STR("null"));
}

void cell_age(struct table_cells *c, yyjson_val *v)
{
	char text[AGE_TEXT];
	msec at;

	if (!time_parse(json_str(v), &at))
		cell_text(c, STR("<unknown>"));
	else
		cell_text(c, str_c(age_format(c->now - at, text)));
}

/* Columns */

static void add_custom(struct api_table *t, yyjson_val *column)
{
	struct arena *a = &t->arena;
	struct custom_column *c;

	if (t->n_custom == COLUMNS_MAX)
		return;
	c = &t->custom[t->n_custom++];
	*c = (struct custom_column){ .name = arena_str(a, json_str(json_get(column, "name"))),
		                     .type = arena_str(a, json_str(json_get(column, "type"))),
		                     .format = arena_str(a, json_str(json_get(column, "format"))),
		                     .description = arena_str(a, json_str(json_get(column, "description"))),
		                     .path = arena_str(a, json_str(json_get(column, "jsonPath"))) };
	json_int(json_get(column, "priority"), &c->priority);
}

struct api_table *table_new(struct store *s, const struct store_type *type)
{
	struct api_table *t = xcalloc(1, sizeof(*t));
	yyjson_doc *doc CLEANUP(json_docp) = NULL;
	yyjson_val *columns, *column;
	size_t i, max;

	t->builtin = table_builtin(type);
	if (t->builtin)
		return t;
	t->custom[t->n_custom++] =
		(struct custom_column){ .name = STR("Name"), .type = STR("string"), .format = STR("name") };
	columns = json_get(crd_version(s, type, &doc), "additionalPrinterColumns");
	if (!columns)
		t->custom[t->n_custom++] = (struct custom_column){ .name = STR("Age"),
			                                           .type = STR("date"),
			                                           .path = STR(".metadata.creationTimestamp") };
	yyjson_arr_foreach(columns, i, max, column)
	{
		add_custom(t, column);
	}
	return t;
}

void table_free(struct api_table *t)
{
	if (!t)
		return;
	arena_release(&t->arena);
	free(t);
}

static void put_column(struct buf *b, struct str name, struct str type, struct str format, struct str description,
                       int64_t priority)
{
	buf_put(b, STR("{\"name\":"));
	buf_json_str(b, name);
	buf_put(b, STR(",\"type\":"));
	buf_json_str(b, type);
	buf_put(b, STR(",\"format\":"));
	buf_json_str(b, format);
	buf_put(b, STR(",\"description\":"));
	buf_json_str(b, description);
	buf_printf(b, ",\"priority\":%lld}", (long long)priority);
}

static void put_columns(const struct api_table *t, struct buf *b)
{
	const struct table_type *type = t->builtin;

	for (size_t i = 0; type && i < type->n_columns; i++) {
		const struct table_column *c = &type->columns[i];

		buf_put(b, i ? STR(",") : STR(""));
		put_column(b, str_c(c->name), str_c(c->type), str_c(c->format), STR_NONE, c->priority);
	}
	for (size_t i = 0; i < t->n_custom; i++) {
		const struct custom_column *c = &t->custom[i];

		buf_put(b, i ? STR(",") : STR(""));
		put_column(b, c->name, c->type, c->format, c->description, c->priority);
	}
}

/* Rows */

static void custom_cell(struct table_cells *c, const struct custom_column *column, yyjson_val *v)
{
	struct buf b = BUF_INIT(64 << 10);
	int64_t n;

	if (!v || yyjson_is_null(v)) {
		cell_null(c);
	} else if (str_eqc(column->type, "date")) {
		cell_age(c, v);
	} else if (str_eqc(column->type, "integer") && json_int(v, &n)) {
		cell_int(c, n);
	} else if (str_eqc(column->type, "boolean") && yyjson_is_bool(v)) {
		cell_bool(c, yyjson_is_true(v));
	} else if (str_eqc(column->type, "string") && yyjson_is_str(v)) {
		cell_text(c, json_str(v));
	} else if (str_eqc(column->type, "string") || (str_eqc(column->type, "number") && yyjson_is_num(v))) {
		json_write_val(v, &b);
		if (str_eqc(column->type, "string")) {
			cell_text(c, buf_str(&b));
		} else {
			begin(c);
			buf_put(c->out, buf_str(&b));
		}
	} else {
		cell_null(c);
	}
	buf_release(&b);
}

static void put_row(const struct api_table *t, yyjson_val *object, const struct table_style *style, struct buf *out)
{
	struct table_cells c = { .out = out, .now = style->now };

	buf_put(out, STR("{\"cells\":["));
	if (t->builtin)
		t->builtin->row(&c, object);
	else
		cell_text(&c, json_str(json_at(object, "metadata", "name", NULL)));
	for (size_t i = 1; i < t->n_custom; i++)
		custom_cell(&c, &t->custom[i], column_value(object, t->custom[i].path));
	buf_putc(out, ']');
	if (str_eqc(style->include, "Object")) {
		buf_put(out, STR(",\"object\":"));
		json_write_val(object, out);
	} else if (!str_eqc(style->include, "None")) {
		buf_put(out, STR(",\"object\":{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
		                 "\"metadata\":"));
		json_write_val(json_get(object, "metadata"), out);
		buf_putc(out, '}');
	}
	buf_putc(out, '}');
}

static void put_head(struct str meta, struct buf *out)
{
	buf_put(out, STR("{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":"));
	buf_put(out, meta);
	buf_put(out, STR(",\"columnDefinitions\":["));
}

void table_write(const struct api_table *t, yyjson_val *list, const struct table_style *style, struct buf *out)
{
	yyjson_val *items = json_get(list, "items"), *item;
	struct buf meta = BUF_INIT(64 << 10);
	size_t i, max;

	if (yyjson_is_arr(items)) {
		json_write_val(json_get(list, "metadata"), &meta);
	} else {
		items = NULL;
		buf_put(&meta, STR("{\"resourceVersion\":"));
		buf_json_str(&meta, json_str(json_at(list, "metadata", "resourceVersion", NULL)));
		buf_putc(&meta, '}');
	}
	put_head(buf_str(&meta), out);
	buf_release(&meta);
	if (style->columns)
		put_columns(t, out);
	buf_put(out, STR("],\"rows\":["));
	if (!items)
		put_row(t, list, style, out);
	yyjson_arr_foreach(items, i, max, item)
	{
		if (i)
			buf_putc(out, ',');
		put_row(t, item, style, out);
	}
	buf_put(out, STR("]}"));
}

void table_write_empty(struct str meta, struct buf *out)
{
	put_head(meta, out);
	buf_put(out, STR("],\"rows\":[]}"));
}
