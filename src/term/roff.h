/* Manual pages (man(7)), made of the tables that --help is made of. */
#ifndef TERM_ROFF_H
#define TERM_ROFF_H

#include "term/opts.h"

/* The title line, NAME. */
void roff_begin(FILE *to, const char *name, int section, const char *summary);
void roff_section(FILE *to, const char *title);
void roff_subsection(FILE *to, const char *title);
/* Running text; its line breaks are kept as such, a blank line begins a paragraph. */
void roff_text(FILE *to, const char *text);
/* An indented paragraph with TERM in front, in bold, and ARGUMENT (may be NULL) in italics. */
void roff_item(FILE *to, const char *term, const char *argument, const char *text);
/* An example, as it is typed. */
void roff_example(FILE *to, const char *text);
/* A whole table of options. */
void roff_opts(FILE *to, const struct opt *opts, size_t n);

#endif
