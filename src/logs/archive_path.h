/* Where an archive keeps the log of a container:
 *
 *   NAMESPACE/KIND/JOB/UID/ROLE-INDEX/GENERATION.CONTAINER.log
 *
 * UID is the job's: another job of the same name has a folder of its own. */
#ifndef LOGS_ARCHIVE_PATH_H
#define LOGS_ARCHIVE_PATH_H

#include "base/buf.h"

struct archive_name {
	struct str ns, kind, job, uid, role, container;
	int32_t index;
	int64_t generation;
};

enum {
	ARCHIVE_PATH_MAX = 2048, /* of a path below the archive's folder */
	/* Levels below the archive's folder. */
	ARCHIVE_LEVEL_RUN = 4,
	ARCHIVE_LEVEL_FILE = 6,
};

/* Appends the path to OUT; *RUN is how much of it is the job's folder. False, with OUT as it was, if a part cannot be
   the name of a file: nobody who chooses labels leads us out of the archive. */
bool archive_path(struct buf *out, const struct archive_name *n, size_t *run);
/* May it be a folder or file of an archive? */
bool archive_part(struct str s);
/* "worker-1" and "0.main.log" taken apart. False: somebody else's. */
bool archive_replica_read(struct str name, struct str *role, int32_t *index);
bool archive_file_read(struct str name, int64_t *generation, struct str *container);

#endif
