#include "local/net/idmap.h"

#include "base/file.h"
#include "local/net/program.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

enum { PROGRAM_MS = 5000, NUMBER = 12 };

struct idmap_range idmap_given(struct str text, struct str name, uint32_t id)
{
	struct str line;

	while (str_next(&text, '\n', &line)) {
		struct str who, first, count;
		int64_t number, from, n;

		if (!str_next(&line, ':', &who) || !str_next(&line, ':', &first) || !str_next(&line, ':', &count))
			continue;
		if (!(name.n > 0 && str_eq(who, name)) && !(str_int(who, &number) && number == id))
			continue;
		if (str_int(first, &from) && str_int(count, &n) && from > 0 && n > 0 && from + n <= UINT32_MAX)
			return (struct idmap_range){ (uint32_t)from, (uint32_t)n };
	}
	return (struct idmap_range){ 0, 0 };
}

size_t idmap_lines(struct idmap_line lines[IDMAP_LINES], uint32_t own, struct idmap_range given)
{
	uint32_t below = MIN(own, given.count);
	size_t n = 0;

	if (below > 0)
		lines[n++] = (struct idmap_line){ 0, given.first, below };
	lines[n++] = (struct idmap_line){ own, own, 1 };
	if (given.count > below)
		lines[n++] = (struct idmap_line){ own + 1, given.first + below, given.count - below };
	return n;
}

static bool run_helper(const char *program, const char *file, pid_t pid, struct str name, uint32_t own)
{
	struct arena a = ARENA_INIT;
	struct idmap_line lines[IDMAP_LINES];
	char path[PROGRAM_PATH];
	struct str text = STR_NONE;
	struct idmap_range given = { 0, 0 };
	bool ok = false;

	if (file_read(&text, file, &a, NULL) == FILE_READ)
		given = idmap_given(text, name, own);
	if (given.count > 0 && net_program_find(path, program)) {
		const char *argv[3 + IDMAP_LINES * 3] = { path, arena_printf(&a, "%d", (int)pid).p };
		size_t n = idmap_lines(lines, own, given), at = 2;

		for (size_t i = 0; i < n; i++) {
			argv[at++] = arena_printf(&a, "%u", lines[i].inside).p;
			argv[at++] = arena_printf(&a, "%u", lines[i].outside).p;
			argv[at++] = arena_printf(&a, "%u", lines[i].count).p;
		}
		ok = net_program_run(argv, PROGRAM_MS);
	}
	arena_release(&a);
	return ok;
}

enum idmap_done idmap_by_programs(pid_t pid)
{
	struct passwd entry, *pw = NULL;
	char text[4096];
	enum idmap_done done = IDMAP_NONE;
	struct str name = STR_NONE;

	if (getpwuid_r(geteuid(), &entry, text, sizeof(text), &pw) == 0 && pw)
		name = str_c(pw->pw_name);
	if (run_helper("newuidmap", "/etc/subuid", pid, name, geteuid()))
		done = run_helper("newgidmap", "/etc/subgid", pid, name, getegid()) ? IDMAP_BOTH : IDMAP_USERS;
	return done;
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

bool idmap_single(bool users, uint32_t uid, uint32_t gid)
{
	char line[3 * NUMBER];

	snprintf(line, sizeof(line), "%u %u 1", uid, uid);
	if (users && !write_file("/proc/self/uid_map", line))
		return false;
	/* The kernel lets an ordinary user map a group only if nobody inside can leave groups. */
	(void)write_file("/proc/self/setgroups", "deny");
	snprintf(line, sizeof(line), "%u %u 1", gid, gid);
	return write_file("/proc/self/gid_map", line);
}
