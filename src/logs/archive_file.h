/* One file of an archive: opened where it ends, appended to. */
#ifndef LOGS_ARCHIVE_FILE_H
#define LOGS_ARCHIVE_FILE_H

#include "base/err.h"
#include "logs/archive_resume.h"

struct archive_file {
	int fd; /* -1: not open */
	char *path;
	struct archive_resume resume;
	uint64_t size;
	bool in_line; /* its last line is not ended */
};

/* Makes the file below the folder ROOT and the folders on the way, or takes the one that is there: a line that is not
   ended is cut off, since the server has it still. The last line may be of any length. */
bool archive_file_open(struct archive_file *f, const char *root, struct str path, struct err *e);
/* Takes what the server sends; what is there already is left out. */
bool archive_file_put(struct archive_file *f, struct str piece, struct err *e);
/* Nothing more comes of the log: its last line is one. */
bool archive_file_complete(struct archive_file *f, struct err *e);
/* Leaves out the older half, whole or not at all: of a last line that is longer, its time and its end stay. */
bool archive_file_halve(struct archive_file *f, struct err *e);
void archive_file_close(struct archive_file *f);

#endif
