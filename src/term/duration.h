/* Times as options have them. */
#ifndef TERM_DURATION_H
#define TERM_DURATION_H

#include "base/clock.h"

/* "15s", "1m30s", "1.5h", "500ms", "0", as Go writes them; not negative. */
bool duration_parse(struct str s, msec *ret);
/* Cuts a number such as 12 or 1.5 off the front of *S. */
bool decimal_cut(struct str *s, double *ret);

#endif
