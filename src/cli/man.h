/* The manual page of dljob. */
#ifndef CLI_MAN_H
#define CLI_MAN_H

#include "cli/cli.h"

void man_dljob(FILE *to);

#endif
