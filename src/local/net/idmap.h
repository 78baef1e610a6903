/* Which users and groups there are inside a user namespace: always the caller itself under its own number, so that a
   pod's programs are who started them; the others out of the range that /etc/subuid gives, where it gives one. */
#ifndef LOCAL_NET_IDMAP_H
#define LOCAL_NET_IDMAP_H

#include "base/arena.h"

#include <sys/types.h>

struct idmap_range {
	uint32_t first, count; /* count 0: none */
};

/* What /etc/subuid or /etc/subgid (TEXT) gives to the user called NAME with the number ID: the first line that does. */
struct idmap_range idmap_given(struct str text, struct str name, uint32_t id);

struct idmap_line {
	uint32_t inside, outside, count;
};
enum { IDMAP_LINES = 3 };
/* The map of OWN and what is given, in LINES; how many. */
size_t idmap_lines(struct idmap_line lines[IDMAP_LINES], uint32_t own, struct idmap_range given);

/* What newuidmap and newgidmap have done for the process PID. */
enum idmap_done { IDMAP_NONE, IDMAP_USERS, IDMAP_BOTH };
enum idmap_done idmap_by_programs(pid_t pid);
/* Writes the map of the caller alone, for the calling process, which is in a new user namespace. UID and GID are those
   from outside. */
bool idmap_single(bool users, uint32_t uid, uint32_t gid);

#endif
