/* A kind is tried: everything that an operator asks of it, for examples of its jobs. */
#ifndef CLIENT_KIND_CHECK_H
#define CLIENT_KIND_CHECK_H

#include "client/cli.h"

/* Loads FILE alone and tries its kind with the jobs of the N EXAMPLES; without any with those of the YAML files beside
   FILE, and with what the kind's own write() gives. What is wrong goes to standard error, a line that sums it up to
   standard output. CLI_INVALID: something is wrong, or there is no example. */
enum exit_code kind_check_file(struct cli *cli, const char *file, int n, char **examples);

#endif
