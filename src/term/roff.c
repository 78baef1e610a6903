#include "term/roff.h"

#include "base/str.h"

/* One line: what would be a request or an escape is made plain. Dashes can be copied from the page. */
static void put_roff_line(FILE *to, struct str s)
{
	if (s.n && (s.p[0] == '.' || s.p[0] == '\''))
		fputs("\\&", to);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\')
			fputs("\\e", to);
		else if (s.p[i] == '-')
			fputs("\\-", to);
		else
			fputc(s.p[i], to);
	}
}

static void put_c(FILE *to, const char *text)
{
	put_roff_line(to, str_c(text));
}

void roff_begin(FILE *to, const char *name, int section, const char *summary)
{
	fputs(".TH ", to);
	for (const char *c = name; *c; c++)
		fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, to);
	fprintf(to, " %d \"\" \"dl-operator " DL_VERSION "\"\n", section);
	roff_section(to, "NAME");
	put_c(to, name);
	fputs(" \\- ", to);
	put_c(to, summary);
	fputc('\n', to);
}

void roff_section(FILE *to, const char *title)
{
	fprintf(to, ".SH %s\n", title);
}

void roff_subsection(FILE *to, const char *title)
{
	fputs(".SS \"", to);
	put_c(to, title);
	fputs("\"\n", to);
}

void roff_text(FILE *to, const char *text)
{
	struct str rest = str_c(text), line;

	while (str_next(&rest, '\n', &line)) {
		/* A blank at its beginning would break the line. */
		line = str_trim(line);
		if (!line.n && rest.n)
			fputs(".PP\n", to);
		if (!line.n)
			continue;
		put_roff_line(to, line);
		fputc('\n', to);
	}
}

void roff_item(FILE *to, const char *term, const char *argument, const char *text)
{
	fputs(".TP\n\\fB", to);
	put_c(to, term);
	fputs("\\fR", to);
	if (argument) {
		fputs(" \\fI", to);
		put_c(to, argument);
		fputs("\\fR", to);
	}
	fputc('\n', to);
	roff_text(to, text);
}

void roff_example(FILE *to, const char *text)
{
	fputs(".PP\n.RS 4\n.nf\n", to);
	put_c(to, text);
	fputs("\n.fi\n.RE\n", to);
}

void roff_opts(FILE *to, const struct opt *opts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct opt *o = &opts[i];
		char term[128];

		if (o->letter)
			snprintf(term, sizeof(term), "-%c, --%s", o->letter, o->name);
		else
			snprintf(term, sizeof(term), "--%s", o->name);
		roff_item(to, term, o->value, o->help);
	}
}
