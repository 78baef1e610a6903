/* Files that nobody but their owner may read, written whole or not at all. */
#ifndef LOCAL_API_KEEP_H
#define LOCAL_API_KEEP_H

#include "base/file.h"

/* Makes FOLDER (mode 0700) if it is not there. False, with *E: it cannot be made, is none, belongs to somebody else, or
   others may write to it. */
bool keep_folder(const char *folder, struct err *e);
/* FOLDER/NAME becomes TEXT, mode 0600 whatever the umask. */
bool keep_write(const char *folder, const char *name, struct str text, struct err *e);
/* As file_read(). FAILED too if it is no plain file of ours, or if others may read or write it. */
enum file_read keep_read(struct str *ret, const char *folder, const char *name, struct arena *a, struct err *e);

#endif
