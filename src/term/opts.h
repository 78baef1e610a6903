/* Options as a table: parsed from it, and shown by --help from the same place. */
#ifndef TERM_OPTS_H
#define TERM_OPTS_H

#include "base/err.h"

#include <stdio.h>

/* All the values that an option was given. The texts are argv's. */
struct opt_list {
	const char **v;
	size_t n;
};

struct opt {
	char letter;       /* 0: it has none */
	const char *name;  /* without the dashes */
	const char *value; /* what --help calls its value; NULL: it takes none */
	const char *help;
	/* Where it goes; one of them is set. */
	bool *flag;
	const char **text; /* the last one counts */
	int32_t *number;   /* not negative */
	struct opt_list *list;
};

/*
 * Takes the options out of ARGV (from argv[0] on) and moves the operands to its front. "--" ends the
 * options, "-" is an operand. Returns the number of operands, or -1 with *E: an unknown option (with
 * the one that was perhaps meant), a missing or superfluous value, not a number.
 */
int opts_parse(const struct opt *opts, size_t n, int argc, char **argv, struct err *e);
/* One line for each option. */
void opts_help(const struct opt *opts, size_t n, FILE *to);
void opt_list_add(struct opt_list *list, const char *text);
void opt_list_release(struct opt_list *list);

#endif
