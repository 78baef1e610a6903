#include "local/pod/usage.h"

#include "local/pod/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

struct usage_process {
	int64_t pid, parent, session, start, ticks, pages;
};

static int by_pid(const void *a, const void *b)
{
	const struct usage_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static const struct usage_process *find(const struct usage_sample *s, int64_t pid)
{
	const struct usage_process key = { .pid = pid };

	return s->n ? bsearch(&key, s->v, s->n, sizeof(key), by_pid) : NULL;
}

void usage_take(struct usage_sample *ret, msec now)
{
	DIR *dir = opendir("/proc");
	struct process_stat st;
	struct dirent *d;
	size_t cap = 0;

	*ret = (struct usage_sample){ .at = now };
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9' || !process_stat(&st, d->d_name))
			continue;
		if (ret->n == cap) {
			cap = cap ? 2 * cap : 256;
			ret->v = xrealloc(ret->v, cap * sizeof(*ret->v));
		}
		ret->v[ret->n++] =
			(struct usage_process){ st.pid, st.parent, st.session, st.start, st.ticks, st.pages };
	}
	if (dir)
		closedir(dir);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_pid);
}

void usage_release(struct usage_sample *s)
{
	free(s->v);
	*s = (struct usage_sample){ 0 };
}

/* Its number in its own PID namespace: the last word of NSpid. */
static int64_t inner_pid(int64_t pid)
{
	char path[64], text[4096];
	struct str line, word, rest;
	int64_t ret = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%lld/status", (long long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text));
	close(fd);
	rest = (struct str){ text, n > 0 ? (size_t)n : 0 };
	while (str_next(&rest, '\n', &line))
		if (str_has_prefix(line, STR("NSpid:")))
			for (line = str_sub(line, 6, line.n); str_next(&line, '\t', &word);)
				str_int(str_trim(word), &ret);
	return ret;
}

/* The first process of a container, by its number here; 0: it is not there. */
static int64_t first_process(const struct usage_sample *now, const struct pod_state *s, size_t which)
{
	int64_t pid = s->containers.v[which].pid;

	if (!pid || !s->own_pids)
		return pid;
	for (size_t i = 0; i < now->n; i++)
		if (now->v[i].parent == s->pid && inner_pid(now->v[i].pid) == pid)
			return now->v[i].pid;
	return 0;
}

/* The child of the pod's parent that it descends from; 0: it is none of the pod's. */
static int64_t top_of(const struct usage_sample *now, const struct usage_process *p, int64_t parent)
{
	for (size_t depth = 0; p && p->parent > 0 && depth < now->n; depth++) {
		if (p->parent == parent)
			return p->pid;
		p = find(now, p->parent);
	}
	return 0;
}

static bool is_first_running(const struct pod_state *s, size_t which)
{
	size_t i = 0;

	while (i < which && !s->containers.v[i].pid)
		i++;
	return i == which;
}

/* Does P, which descends from TOP, belong to another container's first process? */
static bool is_others(const int64_t *firsts, size_t n, size_t which, const struct usage_process *p, int64_t top)
{
	for (size_t i = 0; i < n; i++)
		if (i != which && firsts[i] && (firsts[i] == top || firsts[i] == p->session))
			return true;
	return false;
}

struct pod_usage usage_between(const struct usage_sample *before, const struct usage_sample *now,
                               const struct pod_state *s, size_t which)
{
	size_t n = s->containers.n;
	int64_t window = MAX(now->at - before->at, (msec)1), *firsts = xcalloc(n, sizeof(*firsts)), ticks = 0,
		pages = 0;
	bool rest = is_first_running(s, which);

	for (size_t i = 0; i < n; i++)
		firsts[i] = first_process(now, s, i);
	for (size_t i = 0; i < now->n && s->pid > 0; i++) {
		const struct usage_process *p = &now->v[i], *old = find(before, p->pid);
		int64_t top = top_of(now, p, s->pid);
		bool mine = firsts[which] && (top == firsts[which] || p->session == firsts[which]);

		if (!top || (!mine && (!rest || is_others(firsts, n, which, p, top))))
			continue;
		pages += p->pages;
		/* One that has begun since has used all of its time since. */
		ticks += p->ticks - (old && old->start == p->start ? old->ticks : 0);
	}
	free(firsts);
	return (struct pod_usage){ .cpu_milli = ticks * 1000 * 1000 / (sysconf(_SC_CLK_TCK) * window),
		                   .memory = pages * sysconf(_SC_PAGESIZE) };
}
