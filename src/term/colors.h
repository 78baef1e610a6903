/* May text have colours? */
#ifndef TERM_COLORS_H
#define TERM_COLORS_H

#include "base/str.h"

#include <stdio.h>

/* TO is a terminal, and NO_COLOR is not set. */
bool colors_wanted(FILE *to);

#endif
