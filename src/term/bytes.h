/* Sizes as options have them. */
#ifndef TERM_BYTES_H
#define TERM_BYTES_H

#include "base/str.h"

/* "10Gi", "500M", "1048576", "0", as Kubernetes writes quantities. */
bool bytes_parse(const char *text, uint64_t *ret);

#endif
