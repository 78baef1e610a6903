/* Text in columns: as wide as their widest cell, two blanks between them, the last one free. */
#ifndef TERM_TABLE_H
#define TERM_TABLE_H

#include "base/str.h"

#include <stdio.h>

enum { TABLE_COLUMNS = 8 };

struct table {
	size_t columns;
	int width[TABLE_COLUMNS];
};

/* Makes the columns wide enough for this row. */
void table_fit(struct table *t, const struct str *row);
/* Cells are written as plain_put() does, so that a row is one line. An empty cell is "-", but for the last column. */
void table_print(const struct table *t, const struct str *row, FILE *to);

#endif
