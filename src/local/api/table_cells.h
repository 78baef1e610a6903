/* Columns, cells and the rows of the types, for table*.c; nobody else includes it. */
#ifndef LOCAL_API_TABLE_CELLS_H
#define LOCAL_API_TABLE_CELLS_H

#include "local/api/table.h"

struct table_column {
	const char *name, *type, *format;
	int64_t priority; /* 0: always shown; 1: with -o wide */
};

/* A row that is being written. */
struct table_cells {
	struct buf *out;
	size_t n;
	msec now;
};

void cell_text(struct table_cells *c, struct str s);
void cell_textf(struct table_cells *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The text; "<none>" if it is empty. */
void cell_or_none(struct table_cells *c, struct str s);
void cell_int(struct table_cells *c, int64_t n);
void cell_bool(struct table_cells *c, bool v);
void cell_null(struct table_cells *c);
/* How long ago the time that stands in V was; "<unknown>" if there is none. */
void cell_age(struct table_cells *c, yyjson_val *v);

struct table_type {
	const char *group, *plural;
	const struct table_column *columns;
	size_t n_columns;
	void (*row)(struct table_cells *c, yyjson_val *object);
};
/* NULL: it has none of its own. */
const struct table_type *table_builtin(const struct store_type *t);
extern const struct table_type table_pods;

/* What stands at a path as CRDs write it (".status.phase", ".spec.list[0].name", ".metadata.labels['a/b']",
   ".status.conditions[?(@.type=="Ready")].status"): the first value; NULL: nothing. */
yyjson_val *column_value(yyjson_val *object, struct str path);

#endif
