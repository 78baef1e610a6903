#include "local/runner/machine.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/* A small tree that stands for the machine. */
struct tree {
	char top[64];
	struct arena arena;
};

static void put(struct tree *t, const char *path, const char *text, unsigned mode)
{
	const char *file = arena_printf(&t->arena, "%s%s", t->top, path).p;
	char *at = xstrndup(file, strlen(file));
	FILE *f;

	for (char *slash = at + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(at, 0755);
		*slash = '/';
	}
	free(at);
	f = fopen(file, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(file, mode);
}

static int begin(void **state)
{
	struct tree *t = xcalloc(1, sizeof(*t));

	snprintf(t->top, sizeof(t->top), "/tmp/dl-machine-XXXXXX");
	assert_non_null(mkdtemp(t->top));
	unsetenv("CUDA_VISIBLE_DEVICES");
	put(t, "/proc/meminfo", "MemTotal:       16384 kB\nMemFree:  1 kB\n", 0644);
	*state = t;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int end(void **state)
{
	struct tree *t = *state;

	unsetenv("CUDA_VISIBLE_DEVICES");
	assert_int_equal(nftw(t->top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	arena_release(&t->arena);
	free(t);
	return 0;
}

static void test_plain(void **state)
{
	struct tree *t = *state;
	struct machine m;

	machine_find(&m, t->top, "");
	assert_int_equal(m.amount.memory, 16384 * 1024);
	assert_true(m.amount.cpu >= 1000 && m.amount.cpu % 1000 == 0);
	assert_int_equal(m.amount.gpus, 0);
	assert_true(m.gpu_note[0]);
}

static void test_groups_v2(void **state)
{
	struct tree *t = *state;
	struct machine m;

	put(t, "/proc/self/cgroup", "0::/a/b\n", 0644);
	put(t, "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n", 0644);
	put(t, "/sys/fs/cgroup/a/cpu.max", "50000 100000\n", 0644);
	put(t, "/sys/fs/cgroup/a/b/memory.max", "4096000\n", 0644);
	put(t, "/sys/fs/cgroup/a/memory.max", "max\n", 0644);
	machine_find(&m, t->top, "");
	assert_int_equal(m.amount.cpu, 500);
	assert_int_equal(m.amount.memory, 4096000);
}

static void test_groups_v1(void **state)
{
	struct tree *t = *state;
	struct machine m;

	/* As in a container without a group namespace: the path is not there. */
	put(t, "/proc/self/cgroup", "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n0::/docker/x\n", 0644);
	put(t, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n", 0644);
	put(t, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n", 0644);
	put(t, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "8192000\n", 0644);
	machine_find(&m, t->top, "");
	assert_int_equal(m.amount.cpu, 250);
	assert_int_equal(m.amount.memory, 8192000);
	put(t, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n", 0644);
	put(t, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n", 0644);
	machine_find(&m, t->top, "");
	assert_true(m.amount.cpu >= 1000);
	assert_int_equal(m.amount.memory, 16384 * 1024);
}

static void test_devices(void **state)
{
	struct tree *t = *state;
	struct machine m;

	put(t, "/dev/nvidia10", "", 0644);
	put(t, "/dev/nvidia2", "", 0644);
	put(t, "/dev/nvidiactl", "", 0644);
	put(t, "/dev/nvidia-uvm", "", 0644);
	machine_find(&m, t->top, "");
	assert_int_equal(m.amount.gpus, 2);
	assert_int_equal(m.gpus[0], 2);
	assert_int_equal(m.gpus[1], 10);
}

static void test_nvidia_smi(void **state)
{
	struct tree *t = *state;
	const char *path = arena_printf(&t->arena, "/no/such:%s/bin", t->top).p;
	struct machine m;

	put(t, "/dev/nvidia7", "", 0644);
	put(t, "/bin/nvidia-smi",
	    "#!/bin/sh\n[ \"$*\" = '--query-gpu=index --format=csv,noheader' ] && printf '0\\n1\\n3\\n'\n", 0755);
	machine_find(&m, t->top, path);
	assert_int_equal(m.amount.gpus, 3);
	assert_int_equal(m.gpus[2], 3);
	setenv("CUDA_VISIBLE_DEVICES", "3,0,9,1", 1);
	machine_find(&m, t->top, path);
	assert_int_equal(m.amount.gpus, 2);
	assert_int_equal(m.gpus[0], 3);
	assert_int_equal(m.gpus[1], 0);
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	machine_find(&m, t->top, path);
	assert_int_equal(m.amount.gpus, 0);
	unsetenv("CUDA_VISIBLE_DEVICES");
	/* What does not work is as if it were not there. */
	put(t, "/bin/nvidia-smi", "#!/bin/sh\necho 0\nexit 9\n", 0755);
	machine_find(&m, t->top, path);
	assert_int_equal(m.amount.gpus, 1);
	assert_int_equal(m.gpus[0], 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain, begin, end),
		cmocka_unit_test_setup_teardown(test_groups_v2, begin, end),
		cmocka_unit_test_setup_teardown(test_groups_v1, begin, end),
		cmocka_unit_test_setup_teardown(test_devices, begin, end),
		cmocka_unit_test_setup_teardown(test_nvidia_smi, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
