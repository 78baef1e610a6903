/* The files of kinds/ and kinds/lib/ as they were when the library was built. */
#ifndef KIND_BUILTIN_H
#define KIND_BUILTIN_H

#include "base/util.h"

struct builtin {
	const char *file, *name; /* kinds/x.lua, x */
	const unsigned char *text;
	size_t size;
};

extern const struct builtin builtins[];
extern const size_t n_builtins;
/* Those of kinds/lib (use.h). */
extern const struct builtin builtin_libs[];
extern const size_t n_builtin_libs;

#endif
