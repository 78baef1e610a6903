/* Files, read whole; folders, removed whole. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"
#include "base/err.h"

enum file_read { FILE_READ, FILE_MISSING, FILE_FAILED };
enum { FILE_MAX = 4 << 20 };

/* The whole of a file of at most FILE_MAX bytes, into A. FAILED, with *E, for everything but a file that is not there.
 */
enum file_read file_read(struct str *ret, const char *path, struct arena *a, struct err *e);

/* Opens what is a regular file, or a link to one, to be read. It never waits for anybody: a FIFO, a device, a folder
   and links to them are refused before they are opened. -1 with *E. */
int file_open_regular(const char *path, struct err *e);

/* Removes PATH and all that is in it, or (EMPTY) only what is in it. Links are removed, not followed; what is mounted
   in there is left alone. A PATH that does not exist is no
   error. False, with *E: something could not be removed. */
bool file_remove_tree(const char *path, bool empty, struct err *e);

#endif
