#include "local/pod/cgroup.h"

#include "base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20, PROCS_ROUNDS = 20, CPU_PERIOD = 100000 };

/* The N-th blank-separated word of a line of mountinfo. */
static struct str word(struct str line, size_t n)
{
	struct str w = STR_NONE;

	for (size_t i = 0; i <= n; i++)
		if (!str_next(&line, ' ', &w))
			return STR_NONE;
	return w;
}

static bool has_option(struct str options, const char *name)
{
	struct str o;

	while (str_next(&options, ',', &o))
		if (str_eqc(o, name))
			return true;
	return false;
}

static struct str after_dash(struct str line)
{
	struct str w;

	while (str_next(&line, ' ', &w))
		if (str_eqc(w, "-"))
			return line;
	return STR_NONE;
}

void cgroup_mounts_parse(struct cgroup_mounts *ret, struct str mountinfo)
{
	struct str line;

	ret->n = 0;
	while (str_next(&mountinfo, '\n', &line) && ret->n < CGROUP_MOUNTS) {
		struct cgroup_mount m = { .v2 = false };
		struct str path = word(line, 4), rest = after_dash(line), type = word(rest, 0);

		m.v2 = str_eqc(type, "cgroup2");
		if (!m.v2 && !str_eqc(type, "cgroup"))
			continue;
		m.memory = !m.v2 && has_option(word(rest, 2), "memory");
		m.cpu = !m.v2 && has_option(word(rest, 2), "cpu");
		if (path.n >= sizeof(m.path) || !(m.v2 || m.memory || m.cpu))
			continue;
		snprintf(m.path, sizeof(m.path), "%.*s", STR_F(path));
		ret->v[ret->n++] = m;
	}
}

static void read_text(const char *path, struct buf *ret)
{
	char piece[4096];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	buf_clear(ret);
	if (fd < 0)
		return;
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		buf_put(ret, (struct str){ piece, (size_t)n });
	close(fd);
}

void cgroup_mounts_find(struct cgroup_mounts *ret)
{
	struct buf text = BUF_INIT(TEXT_MAX);

	read_text("/proc/self/mountinfo", &text);
	cgroup_mounts_parse(ret, buf_str(&text));
	buf_release(&text);
}

/* "/sys/fs/cgroup/memory/BASE/NAME/FILE"; NAME and FILE may be empty. */
static void cgroup_path(char ret[static CGROUP_PATH], const struct cgroup_mount *m, struct str base, struct str name,
                        const char *file)
{
	/* What does not fit is nowhere. */
	if (snprintf(ret, CGROUP_PATH, "%s/%.*s%s%.*s%s%s", m->path, STR_F(base), name.n ? "/" : "", STR_F(name),
	             *file ? "/" : "", file) >= CGROUP_PATH)
		ret[0] = 0;
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

static bool set(const struct cgroup_mount *m, struct str base, struct str name, const char *file, const char *text)
{
	char path[CGROUP_PATH];

	cgroup_path(path, m, base, name, file);
	return write_file(path, text);
}

static bool set_number(const struct cgroup_mount *m, struct str base, struct str name, const char *file, int64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	return set(m, base, name, file, text);
}

/* Each folder on the way; version 2 hands its controllers down one by one. */
static bool make_folders(const struct cgroup_mount *m, struct str base, struct str name)
{
	char path[CGROUP_PATH], control[CGROUP_PATH + 32];
	size_t root = strlen(m->path);

	cgroup_path(path, m, base, name, "");
	if (!path[0])
		return false;
	for (char *at = path + root; at;) {
		char *next = strchr(at + 1, '/');

		*at = 0;
		if (m->v2) {
			snprintf(control, sizeof(control), "%s/cgroup.subtree_control", path);
			write_file(control, "+cpu");
			write_file(control, "+memory");
		}
		*at = '/';
		if (next)
			*next = 0;
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			return false;
		if (next)
			*next = '/';
		at = next;
	}
	return true;
}

static bool limit_memory(const struct cgroup_mount *m, struct str base, const struct pod_container *c)
{
	if (m->v2) {
		set(m, base, c->name, "memory.swap.max", "0");
		return set_number(m, base, c->name, "memory.max", c->memory);
	}
	if (!m->memory || !set_number(m, base, c->name, "memory.limit_in_bytes", c->memory))
		return false;
	set_number(m, base, c->name, "memory.memsw.limit_in_bytes", c->memory);
	return true;
}

static bool limit_cpu(const struct cgroup_mount *m, struct str base, const struct pod_container *c)
{
	int64_t quota = MAX(c->cpu_milli * CPU_PERIOD / 1000, (int64_t)1000);
	char text[64];

	if (m->v2) {
		snprintf(text, sizeof(text), "%lld %d", (long long)quota, CPU_PERIOD);
		return set(m, base, c->name, "cpu.max", text);
	}
	return m->cpu && set_number(m, base, c->name, "cpu.cfs_period_us", CPU_PERIOD) &&
	       set_number(m, base, c->name, "cpu.cfs_quota_us", quota);
}

/* The kubelet's: 1024 shares for a core; as version 2 weighs it, 1 to 10000 for 2 to 262144 shares. */
static void weigh_cpu(const struct cgroup_mount *m, struct str base, const struct pod_container *c)
{
	int64_t shares = MIN(MAX(c->cpu_request * 1024 / 1000, (int64_t)2), (int64_t)262144);

	if (m->v2)
		set_number(m, base, c->name, "cpu.weight", 1 + (shares - 2) * 9999 / 262142);
	else if (m->cpu)
		set_number(m, base, c->name, "cpu.shares", shares);
}

void cgroup_make(const struct cgroup_mounts *m, struct str base, const struct pod_container *c, cgroup_note_fn note,
                 void *cookie)
{
	bool any = false, memory = false, cpu = false;

	for (size_t i = 0; i < m->n; i++) {
		if (!make_folders(&m->v[i], base, c->name))
			continue;
		any = true;
		memory |= c->memory && limit_memory(&m->v[i], base, c);
		cpu |= c->cpu_milli && limit_cpu(&m->v[i], base, c);
		if (c->cpu_request)
			weigh_cpu(&m->v[i], base, c);
	}
	if (!any)
		note(cookie,
		     "no control group can be created: processes that leave their group are found only when the pod "
		     "ends");
	if (c->memory && !memory)
		note(cookie, "memory limits are not enforced: no control group for memory can be written");
	if (c->cpu_milli && !cpu)
		note(cookie, "CPU limits are not enforced: no control group for CPU can be written");
}

bool cgroup_join(const struct cgroup_mounts *m, struct str base, struct str name)
{
	bool any = false;

	for (size_t i = 0; i < m->n; i++)
		any |= set(&m->v[i], base, name, "cgroup.procs", "0");
	return any;
}

/* The number behind "oom_kill " at the start of a line. */
static int64_t oom_kill_line(struct str text)
{
	struct str line;
	int64_t n;

	while (str_next(&text, '\n', &line))
		if (str_has_prefix(line, STR("oom_kill ")) && str_int(str_trim(str_sub(line, 9, line.n)), &n))
			return n;
	return 0;
}

int64_t cgroup_oom_kills(const struct cgroup_mounts *m, struct str base, struct str name)
{
	struct buf text = BUF_INIT(TEXT_MAX);
	char path[CGROUP_PATH];
	int64_t most = 0;

	for (size_t i = 0; i < m->n; i++) {
		cgroup_path(path, &m->v[i], base, name, m->v[i].v2 ? "memory.events" : "memory.oom_control");
		read_text(path, &text);
		most = MAX(most, oom_kill_line(buf_str(&text)));
	}
	buf_release(&text);
	return most;
}

/* Those that are in the group of this hierarchy and can be seen from here. */
static bool kill_procs(const char *procs)
{
	struct buf text = BUF_INIT(TEXT_MAX);
	struct str rest, line;
	bool any = false;
	int64_t pid;

	for (int round = 0; round < PROCS_ROUNDS; round++) {
		bool some = false;

		read_text(procs, &text);
		rest = buf_str(&text);
		while (str_next(&rest, '\n', &line))
			if (str_int(line, &pid) && pid > 1)
				some |= kill((pid_t)pid, SIGKILL) == 0;
		any |= some;
		if (!some)
			break;
	}
	buf_release(&text);
	return any;
}

static bool populated(const char *procs)
{
	struct buf text = BUF_INIT(TEXT_MAX);
	bool any;

	read_text(procs, &text);
	any = text.n > 0;
	buf_release(&text);
	return any;
}

bool cgroup_kill(const struct cgroup_mounts *m, struct str base, struct str name)
{
	char path[CGROUP_PATH];
	bool any = false;

	for (size_t i = 0; i < m->n; i++) {
		cgroup_path(path, &m->v[i], base, name, "cgroup.procs");
		if (!populated(path))
			continue;
		any = true;
		if (!m->v[i].v2 || !set(&m->v[i], base, name, "cgroup.kill", "1"))
			kill_procs(path);
	}
	return any;
}

/* The groups below BASE in one hierarchy, and BASE. */
static bool remove_in(const struct cgroup_mounts *m, const struct cgroup_mount *mount, struct str base)
{
	char path[CGROUP_PATH];
	struct dirent *d;
	bool ok = true;
	DIR *dir;

	cgroup_path(path, mount, base, STR_NONE, "");
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT;
	while ((d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		cgroup_kill(m, base, str_c(d->d_name));
		cgroup_path(path, mount, base, str_c(d->d_name), "");
		ok &= rmdir(path) == 0 || errno == ENOENT;
	}
	closedir(dir);
	cgroup_path(path, mount, base, STR_NONE, "");
	return ok & (rmdir(path) == 0 || errno == ENOENT);
}

bool cgroup_remove(const struct cgroup_mounts *m, struct str base)
{
	bool ok = true;

	if (str_empty(base))
		return true;
	for (size_t i = 0; i < m->n; i++)
		ok &= remove_in(m, &m->v[i], base);
	return ok;
}
