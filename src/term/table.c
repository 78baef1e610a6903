#include "term/table.h"

/* How many columns a terminal needs: bytes of UTF-8 that begin a character. */
static int columns_of(struct str s)
{
	int n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

void table_fit(struct table *t, const struct str *row)
{
	for (size_t i = 0; i < t->columns; i++)
		t->width[i] = MAX(t->width[i], columns_of(row[i]));
}

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static void put_cell(struct str s, FILE *to)
{
	size_t from = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!is_control(s.p[i]))
			continue;
		fwrite(s.p + from, 1, i - from, to);
		from = i + 1;
		if (s.p[i] == '\n')
			fputs("\\n", to);
		else if (s.p[i] == '\t')
			fputs("\\t", to);
		else
			fprintf(to, "\\x%02x", (unsigned char)s.p[i]);
	}
	if (s.n > from)
		fwrite(s.p + from, 1, s.n - from, to);
}

void table_print(const struct table *t, const struct str *row, FILE *to)
{
	for (size_t i = 0; i < t->columns; i++) {
		bool last = i + 1 == t->columns;
		struct str cell = row[i];

		if (!last && str_empty(cell))
			cell = STR("-");
		put_cell(cell, to);
		if (!last)
			fprintf(to, "%*s", MAX(t->width[i] - columns_of(cell), 0) + 2, "");
	}
	fputc('\n', to);
}
