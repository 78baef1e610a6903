/* Files that are bind-mounted into pods: changed in place, so that every mount sees it, and as little as can be. */
#ifndef LOCAL_NET_HOSTS_FILE_H
#define LOCAL_NET_HOSTS_FILE_H

#include "base/err.h"
#include "base/str.h"

/* Makes TEXT the content of the file (made with mode 0644 if it is not there). Only the bytes that differ are written,
   with one write, and a file that shrinks is cut afterwards: at no moment is it empty, and a reader meets old lines or
   new ones. Room on the disk is asked for first: where there is none the file stays as it was. *CHANGED (may be NULL)
   says whether anything was written. */
bool hosts_file_write(const char *path, struct str text, bool *changed, struct err *e);

/* The same for a file that a pod may write to. TEXT stands above a line that says so; what the pod has below that line,
   or in a file without it, stays below it, up to 64 KiB. What the pod writes at the very same moment may be lost. A
   file that the pod has made unreadable is left alone. */
bool hosts_file_write_own(const char *path, struct str text, struct err *e);

#endif
