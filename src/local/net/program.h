/* Programs that may be installed or not: found in PATH, run by their argv, with a limit. */
#ifndef LOCAL_NET_PROGRAM_H
#define LOCAL_NET_PROGRAM_H

#include "base/util.h"

enum { PROGRAM_PATH = 512 };

/* Where NAME is, among the folders of PATH and the usual ones of the system; false if nowhere. */
bool net_program_find(char ret[PROGRAM_PATH], const char *name);
/* Runs it to its end, silently; true if it exits with 0 within LIMIT_MS. One that takes longer is killed. */
bool net_program_run(const char *const *argv, int limit_ms);
/* Waits until the process has ended, whoever's child it is; false if it has not after LIMIT_MS. */
bool net_program_wait(int pidfd, int limit_ms);

#endif
