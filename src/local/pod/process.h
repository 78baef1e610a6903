/* Processes by their number: which one it is, and whether it is still the same. */
#ifndef LOCAL_POD_PROCESS_H
#define LOCAL_POD_PROCESS_H

#include "base/str.h"

#include <sys/types.h>

enum { BOOT_ID = 40 };

/* From the text of /proc/PID/stat; a name may hold blanks and parentheses. */
struct process_stat {
	int64_t pid, parent, session, start;
	int64_t ticks, pages; /* of the processor (sysconf(_SC_CLK_TCK) in a second), and resident */
	char state;
};
bool process_stat_parse(struct process_stat *ret, struct str text);
/* WHICH is a number or "self". False if there is none, or a zombie. */
bool process_stat(struct process_stat *ret, const char *which);
/* Of the running kernel; empty if unknown. */
void process_boot(char ret[static BOOT_ID]);
/* Is PID the process that began at START? */
bool process_lives(int64_t pid, int64_t start);
/* SIGKILL to every process of a session. */
void process_kill_session(int64_t session);
/* SIGKILL to every child of PARENT. */
void process_kill_children(int64_t parent);

#endif
