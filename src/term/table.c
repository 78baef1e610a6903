#include "term/plain.h"
#include "term/table.h"

void table_fit(struct table *t, const struct str *row)
{
	for (size_t i = 0; i < t->columns; i++)
		t->width[i] = MAX(t->width[i], plain_columns(row[i]));
}

void table_print(const struct table *t, const struct str *row, FILE *to)
{
	for (size_t i = 0; i < t->columns; i++) {
		bool last = i + 1 == t->columns;
		struct str cell = row[i];

		if (!last && str_empty(cell))
			cell = STR("-");
		plain_put(cell, to);
		if (!last)
			fprintf(to, "%*s", MAX(t->width[i] - plain_columns(cell), 0) + 2, "");
	}
	fputc('\n', to);
}
