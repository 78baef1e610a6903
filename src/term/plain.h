/* Text of others on a terminal: whatever comes from an object, a server or a file is shown and never done. */
#ifndef TERM_PLAIN_H
#define TERM_PLAIN_H

#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>

/* Writes S on one line: control characters (of Unicode, too), what turns the direction of text, and bytes that are no
   UTF-8 stand there as \n, \t, \xNN or \uNNNN. */
void plain_put(struct str s, FILE *to);
/* How many columns that takes, if every character has one. */
int plain_columns(struct str s);
/* The same of text that is JSON already, with JSON's own escapes; its newlines stay. */
void plain_put_json(struct str s, FILE *to);

/* printf(), with everything but a newline at the end of FMT written as plain_put() does. */
void plain_printf(FILE *to, const char *fmt, ...) PRINTF_LIKE(2, 3);
void plain_vprintf(FILE *to, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);

#endif
