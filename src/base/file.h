/* Files, read whole. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"
#include "base/err.h"

enum file_read { FILE_READ, FILE_MISSING, FILE_FAILED };
enum { FILE_MAX = 4 << 20 };

/* The whole of a file of at most FILE_MAX bytes, into A. FAILED, with *E, for everything but a file that is not there.
 */
enum file_read file_read(struct str *ret, const char *path, struct arena *a, struct err *e);

#endif
