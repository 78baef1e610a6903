#include "local/net/program.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSTEM_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool find_in(char ret[PROGRAM_PATH], struct str path, const char *name)
{
	struct str folder;

	while (str_next(&path, ':', &folder)) {
		int n = snprintf(ret, PROGRAM_PATH, "%.*s/%s", STR_F(folder), name);

		if (folder.n > 0 && folder.p[0] == '/' && n < PROGRAM_PATH && access(ret, X_OK) == 0)
			return true;
	}
	return false;
}

bool net_program_find(char ret[PROGRAM_PATH], const char *name)
{
	return find_in(ret, str_c(getenv("PATH")), name) || find_in(ret, STR(SYSTEM_PATH), name);
}

bool net_program_wait(int pidfd, int limit_ms)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, limit_ms);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

bool net_program_run(const char *const *argv, int limit_ms)
{
	extern char **environ;
	posix_spawn_file_actions_t files;
	int status = 0, pidfd, code;
	bool in_time;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	code = posix_spawn(&pid, argv[0], &files, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (code != 0)
		return false;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	in_time = pidfd >= 0 && net_program_wait(pidfd, limit_ms);
	if (!in_time)
		kill(pid, SIGKILL);
	if (pidfd >= 0)
		close(pidfd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
