/* What is written into control groups, on plain files that stand for them. */
#include "local/pod/cgroup.h"

#include "base/file.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static char top[32], notes[1024];
static struct arena arena;
static struct cgroup_mounts mounts;

static void note(void *cookie, const char *text)
{
	size_t n = strlen(notes);

	(void)cookie;
	snprintf(notes + n, sizeof(notes) - n, "%.20s\n", text);
}

static const char *in(const char *name)
{
	return arena_printf(&arena, "%s/%s", top, name).p;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in(name), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void assert_file(const char *name, const char *want)
{
	struct str text;

	assert_int_equal(file_read(&text, in(name), &arena, NULL), FILE_READ);
	assert_string_equal(text.p, want);
}

static void add_mount(const char *name, bool v2, bool memory, bool cpu)
{
	struct cgroup_mount *m = &mounts.v[mounts.n++];

	*m = (struct cgroup_mount){ .v2 = v2, .memory = memory, .cpu = cpu };
	snprintf(m->path, sizeof(m->path), "%s", in(name));
	assert_int_equal(mkdir(m->path, 0755), 0);
}

/* The kernel makes these with the folder. */
static void add_group(const char *mount, const char *const *files)
{
	static const char *const parts[] = { "base", "base/pod", "base/pod/main" };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		assert_int_equal(mkdir(in(arena_printf(&arena, "%s/%s", mount, parts[i]).p), 0755), 0);
	for (; *files; files++)
		put(arena_printf(&arena, "%s/base/pod/main/%s", mount, *files).p, "");
}

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/pod_cgroup_XXXXXX");
	assert_non_null(mkdtemp(top));
	mounts.n = 0;
	notes[0] = 0;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	arena_release(&arena);
	return 0;
}

static const struct pod_container limited = {
	.name = STR_INIT("main"), .cpu_milli = 1500, .cpu_request = 500, .memory = 1 << 20
};

static void test_version_2(void **state)
{
	static const char *const files[] = { "memory.max", "memory.swap.max", "cpu.max",
		                             "cpu.weight", "cgroup.procs",    NULL };

	(void)state;
	add_mount("unified", true, false, false);
	add_group("unified", files);
	put("unified/cgroup.subtree_control", "");
	cgroup_make(&mounts, STR("base/pod"), &limited, note, NULL);
	assert_string_equal(notes, "");
	assert_file("unified/base/pod/main/memory.max", "1048576");
	assert_file("unified/base/pod/main/memory.swap.max", "0");
	assert_file("unified/base/pod/main/cpu.max", "150000 100000");
	assert_file("unified/base/pod/main/cpu.weight", "20");
	/* Each write of its own: one controller that is missing does not keep the other away. */
	assert_file("unified/cgroup.subtree_control", "+memory");
	assert_true(cgroup_join(&mounts, STR("base/pod"), STR("main")));
	assert_file("unified/base/pod/main/cgroup.procs", "0");
	put("unified/base/pod/main/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n");
	assert_int_equal(cgroup_oom_kills(&mounts, STR("base/pod"), STR("main")), 2);
}

static void test_version_1(void **state)
{
	static const char *const memory[] = { "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", NULL };
	static const char *const cpu[] = { "cpu.cfs_period_us", "cpu.cfs_quota_us", "cpu.shares", NULL };

	(void)state;
	add_mount("memory", false, true, false);
	add_mount("cpu", false, false, true);
	add_group("memory", memory);
	add_group("cpu", cpu);
	cgroup_make(&mounts, STR("base/pod"), &limited, note, NULL);
	assert_string_equal(notes, "");
	assert_file("memory/base/pod/main/memory.limit_in_bytes", "1048576");
	assert_file("memory/base/pod/main/memory.memsw.limit_in_bytes", "1048576");
	assert_file("cpu/base/pod/main/cpu.cfs_quota_us", "150000");
	assert_file("cpu/base/pod/main/cpu.shares", "512");
	put("memory/base/pod/main/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
	assert_int_equal(cgroup_oom_kills(&mounts, STR("base/pod"), STR("main")), 1);
}

/* Folders are made, limits cannot be written: that is said. */
static void test_what_cannot_be_had(void **state)
{
	(void)state;
	add_mount("unified", true, false, false);
	cgroup_make(&mounts, STR("base/pod"), &limited, note, NULL);
	assert_string_equal(notes, "memory limits are no\nCPU limits are not e\n");
	assert_int_equal(access(in("unified/base/pod/main"), F_OK), 0);
	assert_true(cgroup_remove(&mounts, STR("base/pod")));
	assert_int_not_equal(access(in("unified/base/pod"), F_OK), 0);
	notes[0] = 0;
	mounts.n = 0;
	cgroup_make(&mounts, STR("base/pod"), &limited, note, NULL);
	assert_string_equal(notes, "no control group can\nmemory limits are no\nCPU limits are not e\n");
	assert_true(cgroup_remove(&mounts, STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_version_2, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_version_1, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_cannot_be_had, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
