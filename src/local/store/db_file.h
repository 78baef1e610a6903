/* Whose file a database is, before SQLite opens it: that alone would change it. */
#ifndef LOCAL_STORE_DB_FILE_H
#define LOCAL_STORE_DB_FILE_H

#include "base/err.h"

/* SQLite's own mark of whose file it is. */
enum { DB_APPLICATION = 0x646c6a62 };

/* Makes it if it is not there. False, with *E, as store_open() says: it is not ours, or not to be opened. */
bool db_file_check(const char *path, struct err *e);

#endif
