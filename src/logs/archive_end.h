/* When the archive of one job ends: after the job, but not while logs still come. */
#ifndef LOGS_ARCHIVE_END_H
#define LOGS_ARCHIVE_END_H

#include "base/clock.h"

/* ENDED_AT: the job did; WRITTEN_AT: when something of a container that has ended was kept last, or 0; LEFT: logs that
   are not whole. */
msec archive_end_at(msec ended_at, msec written_at, size_t left);

#endif
