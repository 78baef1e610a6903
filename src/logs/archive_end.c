#include "logs/archive_end.h"

#include "base/util.h"

static const msec linger = SECONDS(60); /* for pods that still end, and for logs that come slowly */
static const msec settle = SECONDS(1);  /* for pods that are told of later than the job */

msec archive_end_at(msec ended_at, msec written_at, size_t left)
{
	return left ? MAX(ended_at, written_at) + linger : ended_at + settle;
}
