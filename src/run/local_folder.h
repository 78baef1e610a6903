/* The folder of the cluster on this machine. It is ours, closed to others and marked before anything is written in it,
   and only what we have made there is ever removed. */
#ifndef RUN_LOCAL_FOLDER_H
#define RUN_LOCAL_FOLDER_H

#include "base/err.h"

/* Makes FOLDER and its marker. False, with *E that names the remedy, before anything is changed: it is a link, belongs
   to somebody else, may be written to by others, or holds files that are no cluster's. */
bool local_folder_make(const char *folder, struct err *e);
/* The same of a folder that may be there; *THERE. MARKED: it must have the marker, too. Changes nothing. */
bool local_folder_check(const char *folder, bool marked, bool *there, struct err *e);
/* Removes what a cluster makes, the marker at last; *LEFT: there are other files, and the marker is gone all the same.
 */
bool local_folder_empty(const char *folder, bool *left, struct err *e);

#endif
