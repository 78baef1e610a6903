#include "local/runner/machine.h"

#include "base/file.h"
#include "loop/loop.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { CPUS_MAX = 8192, OUTPUT_MAX = 65536 };
static const msec nvidia_patience = SECONDS(20);

/* --- Files --- */

static struct str file_text(struct arena *a, const char *root, const char *path)
{
	struct str text = STR_NONE;

	return file_read(&text, arena_printf(a, "%s%s", root, path).p, a, NULL) == FILE_READ ? str_trim(text)
	                                                                                     : STR_NONE;
}

static struct str word(struct str *rest)
{
	struct str part = STR_NONE;

	while (str_next(rest, ' ', &part) && part.n == 0)
		;
	return part;
}

/* --- Control groups: the least of what any group from ours up to the top allows. --- */

struct limits {
	int64_t cpu, memory; /* INT64_MAX: none */
};

static void least(int64_t *limit, int64_t n)
{
	if (n > 0)
		*limit = MIN(*limit, n);
}

static void read_v2(struct arena *a, const char *root, const char *folder, struct limits *l)
{
	struct str max = file_text(a, root, arena_printf(a, "%s/cpu.max", folder).p), quota = word(&max);
	int64_t n, period;

	if (str_int(quota, &n) && str_int(word(&max), &period) && period > 0 && n < INT64_MAX / 1000)
		least(&l->cpu, n * 1000 / period);
	if (str_int(file_text(a, root, arena_printf(a, "%s/memory.max", folder).p), &n))
		least(&l->memory, n);
}

static void read_v1(struct arena *a, const char *root, const char *folder, struct limits *l)
{
	int64_t n, period;

	if (str_int(file_text(a, root, arena_printf(a, "%s/cpu.cfs_quota_us", folder).p), &n) && n < INT64_MAX / 1000 &&
	    str_int(file_text(a, root, arena_printf(a, "%s/cpu.cfs_period_us", folder).p), &period) && period > 0)
		least(&l->cpu, n * 1000 / period);
	if (str_int(file_text(a, root, arena_printf(a, "%s/memory.limit_in_bytes", folder).p), &n))
		least(&l->memory, n);
}

static void read_groups(struct arena *a, const char *root, const char *mount, struct str path, bool v2,
                        struct limits *l)
{
	for (;;) {
		const char *folder = arena_printf(a, "%s%.*s", mount, STR_F(path)).p;

		if (v2)
			read_v2(a, root, folder, l);
		else
			read_v1(a, root, folder, l);
		if (path.n == 0)
			return;
		while (path.n && path.p[path.n - 1] != '/')
			path.n--;
		if (path.n)
			path.n--;
	}
}

static struct limits group_limits(struct arena *a, const char *root)
{
	struct str text = file_text(a, root, "/proc/self/cgroup"), line, number, names, name;
	struct limits l = { INT64_MAX, INT64_MAX };

	while (str_next(&text, '\n', &line)) {
		if (!str_next(&line, ':', &number) || !str_next(&line, ':', &names) || line.n == 0)
			continue;
		/* What is left of the line is the path; a container may not see as far up. */
		if (str_eqc(line, "/"))
			line.n = 0;
		if (names.n == 0)
			read_groups(a, root, "/sys/fs/cgroup", line, true, &l);
		while (str_next(&names, ',', &name))
			if (str_eqc(name, "cpu") || str_eqc(name, "memory"))
				read_groups(a, root, arena_printf(a, "/sys/fs/cgroup/%.*s", STR_F(name)).p, line, false,
				            &l);
	}
	return l;
}

/* --- Cores and memory --- */

static int64_t cores(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int64_t n = sysconf(_SC_NPROCESSORS_ONLN);

	if (set && sched_getaffinity(0, size, set) == 0)
		n = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return MAX(n, (int64_t)1);
}

static int64_t memory(struct arena *a, const char *root)
{
	struct str text = file_text(a, root, "/proc/meminfo"), line;
	int64_t n;

	while (str_next(&text, '\n', &line)) {
		struct str key = word(&line);

		if (str_eqc(key, "MemTotal:") && str_int(word(&line), &n) && n > 0 && n < INT64_MAX / 1024)
			return n * 1024;
	}
	return 0;
}

/* --- GPUs --- */

static void add_gpu(struct machine *m, int64_t number)
{
	if (number < 0 || number > 99999 || m->amount.gpus == MACHINE_GPUS_MAX)
		return;
	for (int64_t i = 0; i < m->amount.gpus; i++)
		if (m->gpus[i] == number)
			return;
	m->gpus[m->amount.gpus++] = (int)number;
}

static const char *find_program(struct arena *a, const char *path, const char *name)
{
	struct str rest = str_c(path), dir;

	while (str_next(&rest, ':', &dir)) {
		const char *file = arena_printf(a, "%.*s/%s", STR_F(dir), name).p;

		if (dir.n && access(file, X_OK) == 0)
			return file;
	}
	return NULL;
}

struct machine_asked {
	struct machine *m;
	bool ok;
};

static void on_answer(void *cookie, const struct loop_process_result *r)
{
	struct machine_asked *q = cookie;
	struct str text = r->out, line;
	int64_t number;

	if (r->exit_status != 0) {
		snprintf(q->m->gpu_note, sizeof(q->m->gpu_note), "nvidia-smi %s",
		         r->timed_out ? "does not answer" : "finds none");
		return;
	}
	q->ok = true;
	snprintf(q->m->gpu_note, sizeof(q->m->gpu_note), "found by nvidia-smi");
	while (str_next(&text, '\n', &line))
		if (str_int(str_trim(line), &number))
			add_gpu(q->m, number);
}

/* True: it knows. */
static bool ask_nvidia(struct machine *m, const char *program)
{
	const char *argv[] = { program, "--query-gpu=index", "--format=csv,noheader", NULL };
	struct loop_process_spec spec = { .argv = argv, .timeout = nvidia_patience, .output_max = OUTPUT_MAX };
	struct machine_asked q = { m, false };
	struct loop *l = loop_new();
	struct loop_process *p = loop_process_start(l, &spec, on_answer, &q);

	loop_run(l);
	loop_process_free(p);
	loop_free(l);
	return q.ok;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void look_at_devices(struct machine *m, const char *root, struct arena *a)
{
	DIR *dir = opendir(arena_printf(a, "%s/dev", root).p);
	struct str prefix = STR("nvidia");
	struct dirent *entry;
	int64_t number;

	while (dir && (entry = readdir(dir))) {
		struct str name = str_c(entry->d_name);

		if (str_has_prefix(name, prefix) && str_int(str_sub(name, prefix.n, name.n), &number))
			add_gpu(m, number);
	}
	if (dir)
		closedir(dir);
	qsort(m->gpus, (size_t)m->amount.gpus, sizeof(m->gpus[0]), by_number);
	if (m->amount.gpus)
		snprintf(m->gpu_note, sizeof(m->gpu_note), "found as /dev/nvidia*");
	else if (!m->gpu_note[0])
		snprintf(m->gpu_note, sizeof(m->gpu_note), "none: no nvidia-smi, no /dev/nvidia*");
}

/* As CUDA reads it: what is no number of ours ends the list. */
static void only_visible(struct machine *m, const char *visible)
{
	struct machine all = *m;
	struct str rest = str_c(visible), part;
	int64_t number;
	bool known = true;

	if (!visible || all.amount.gpus == 0)
		return;
	m->amount.gpus = 0;
	while (known && str_next(&rest, ',', &part)) {
		known = false;
		for (int64_t i = 0; str_int(str_trim(part), &number) && i < all.amount.gpus; i++)
			known |= all.gpus[i] == number;
		if (known)
			add_gpu(m, number);
	}
	snprintf(m->gpu_note, sizeof(m->gpu_note), "%lld of %lld: CUDA_VISIBLE_DEVICES is \"%.100s\"",
	         (long long)m->amount.gpus, (long long)all.amount.gpus, visible);
}

void machine_find(struct machine *ret, const char *root, const char *path)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct limits l = group_limits(&a, root);
	const char *program;

	memset(ret, 0, sizeof(*ret));
	ret->amount.cpu = MIN(cores() * 1000, l.cpu);
	ret->amount.memory = MIN(memory(&a, root), l.memory);
	program = find_program(&a, path, "nvidia-smi");
	if (!program || !ask_nvidia(ret, program))
		look_at_devices(ret, root, &a);
	only_visible(ret, getenv("CUDA_VISIBLE_DEVICES"));
}
