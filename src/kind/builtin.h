/* The files of kinds/ as they were when the library was built. */
#ifndef KIND_BUILTIN_H
#define KIND_BUILTIN_H

#include "base/util.h"

struct builtin {
	const char *file;
	const unsigned char *text;
	size_t size;
};

extern const struct builtin builtins[];
extern const size_t n_builtins;

#endif
