#include "local/pod/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static struct str read_into(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return STR_NONE;
	n = read(fd, text, size);
	close(fd);
	return (struct str){ text, n > 0 ? (size_t)n : 0 };
}

bool process_stat_parse(struct process_stat *ret, struct str text)
{
	const char *end = text.n ? memrchr(text.p, ')', text.n) : NULL;
	struct str rest, word, front = text;
	int64_t n;

	if (!end || !str_next(&front, ' ', &word) || !str_int(word, &ret->pid))
		return false;
	rest = str_trim(str_sub(text, (size_t)(end - text.p) + 1, text.n));
	for (int field = 3; str_next(&rest, ' ', &word); field++) {
		if (field == 3 && word.n == 1)
			ret->state = *word.p;
		if (field == 4 && !str_int(word, &ret->parent))
			return false;
		if (field == 6 && !str_int(word, &ret->session))
			return false;
		if ((field == 14 || field == 15) && str_int(word, &n))
			ret->ticks = (field == 15 ? ret->ticks : 0) + n;
		if (field == 22 && !str_int(word, &ret->start))
			return false;
		if (field == 24)
			return str_int(word, &ret->pages);
	}
	return false;
}

bool process_stat(struct process_stat *ret, const char *which)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/%s/stat", which);
	return process_stat_parse(ret, read_into(path, text, sizeof(text))) && ret->state != 'Z' && ret->state != 'X';
}

void process_boot(char ret[static BOOT_ID])
{
	char text[BOOT_ID];
	struct str s = str_trim(read_into("/proc/sys/kernel/random/boot_id", text, sizeof(text) - 1));

	snprintf(ret, BOOT_ID, "%.*s", STR_F(s));
}

bool process_lives(int64_t pid, int64_t start)
{
	struct process_stat st;
	char which[32];

	snprintf(which, sizeof(which), "%lld", (long long)pid);
	return pid > 0 && process_stat(&st, which) && st.start == start;
}

/* One of the two is set. */
static void kill_each(int64_t session, int64_t parent)
{
	DIR *dir = opendir("/proc");
	struct process_stat st;
	struct dirent *d;

	if (!dir)
		return;
	while ((d = readdir(dir))) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9' || !process_stat(&st, d->d_name))
			continue;
		if ((session && st.session == session) || (parent && st.parent == parent))
			kill((pid_t)st.pid, SIGKILL);
	}
	closedir(dir);
}

void process_kill_session(int64_t session)
{
	if (session > 1)
		kill_each(session, 0);
}

void process_kill_children(int64_t parent)
{
	if (parent > 1)
		kill_each(0, parent);
}
