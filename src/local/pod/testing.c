#include "local/pod/testing.h"

#include "base/file.h"
#include "local/pod/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static char no_namespaces[256];

enum { PATIENCE = 12000, OPEN_FILES = 16 };

bool testing_is_parent(int argc, char **argv, int *ret)
{
	struct err e = ERR_INIT;

	if ((argc == 3 || argc == 4) && strcmp(argv[1], "pod") == 0) {
		*ret = pod_main(argv[2], argc == 4);
		return true;
	}
	if (geteuid() != 0 && !pod_user_namespace(&e)) {
		snprintf(no_namespaces, sizeof(no_namespaces), "%s", err_msg(&e));
		err_release(&e);
	}
	return false;
}

void testing_pod_needs_namespaces(void)
{
	pid_t pid;
	int status;

	if (!no_namespaces[0]) {
		pid = fork();
		if (pid == 0)
			_exit(unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC) != 0);
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status == 0)
			return;
		snprintf(no_namespaces, sizeof(no_namespaces), "no namespaces can be made");
	}
	print_message("skipped: %s\n", no_namespaces);
	skip();
}

static void a_moment(void)
{
	struct timespec t = { .tv_nsec = 10000000 };

	nanosleep(&t, NULL);
}

void testing_pod_begin(struct testing_pod *t)
{
	static int number;

	memset(t, 0, sizeof(*t));
	snprintf(t->top, sizeof(t->top), "/tmp/pod_test_XXXXXX");
	assert_non_null(mkdtemp(t->top));
	snprintf(t->folder, sizeof(t->folder), "%s/pod", t->top);
	t->spec = (struct pod_spec){
		.name = STR("pod-0"),
		.ns = STR("default"),
		.uid = STR("1234"),
		.hostname = STR("pod-0"),
		.restart = POD_RESTART_NEVER,
		.grace = SECONDS(60),
		.pid_namespace = true,
		.mount_namespace = true,
		.ipc_namespace = true,
		.backoff = 1,
	};
	t->spec.cgroup = arena_printf(&t->arena, "dljob-test-%d-%d", (int)getpid(), ++number);
}

struct pod_container *testing_pod_sh(struct testing_pod *t, const char *name, const char *script)
{
	struct pod_container *c = vec_push(&t->arena, &t->spec.containers);

	*c = (struct pod_container){ .name = str_c(name), .image = STR("none"), .uid = -1, .gid = -1 };
	*vec_push(&t->arena, &c->command) = STR("/bin/sh");
	*vec_push(&t->arena, &c->command) = STR("-ec");
	*vec_push(&t->arena, &c->command) = str_c(script);
	*vec_push(&t->arena, &c->env) = (struct pod_env){ STR("PATH"), STR("/usr/local/bin:/usr/bin:/bin") };
	return c;
}

void testing_pod_mount(struct testing_pod *t, struct pod_container *c, const char *volume, const char *path)
{
	struct pod_mount *m = vec_push(&t->arena, &c->mounts);

	*m = (struct pod_mount){ .volume = str_c(volume), .path = str_c(path) };
}

static void ok(bool is, struct err *e)
{
	if (!is)
		fail_msg("%s", err_msg(e));
}

void testing_pod_start(struct testing_pod *t)
{
	struct err e = ERR_INIT;

	ok(pod_prepare(t->folder, &t->spec, &e), &e);
	ok(pod_start(t->folder, NULL, &t->pid, &e), &e);
	t->running = true;
}

static bool read_state(struct testing_pod *t)
{
	struct err e = ERR_INIT;
	bool missing;

	ok(pod_state_read(&t->state, &missing, t->folder, &t->arena, &e), &e);
	return !missing;
}

void testing_pod_wait(struct testing_pod *t)
{
	int status;

	for (int i = 0; i < PATIENCE; i++) {
		pid_t pid = waitpid(t->pid, &status, WNOHANG);

		assert_true(pid >= 0);
		if (pid == t->pid) {
			t->running = false;
			read_state(t);
			return;
		}
		a_moment();
	}
	read_state(t);
	fail_msg("the pod does not end: %s", testing_pod_file(t, "state.json").p);
}

void testing_pod_run(struct testing_pod *t)
{
	testing_pod_start(t);
	testing_pod_wait(t);
	assert_int_equal(t->state.life, POD_ENDED);
}

void testing_pod_until(struct testing_pod *t, bool (*fn)(const struct pod_state *s))
{
	for (int i = 0; i < PATIENCE; i++) {
		if (read_state(t) && fn(&t->state))
			return;
		a_moment();
	}
	fail_msg("what is waited for does not come: %s", testing_pod_file(t, "state.json").p);
}

struct pod_container_state *testing_pod_container(struct testing_pod *t, const char *name)
{
	for (size_t i = 0; i < t->state.containers.n; i++)
		if (str_eqc(t->state.containers.v[i].name, name))
			return &t->state.containers.v[i];
	fail_msg("no container %s", name);
	return NULL;
}

struct str testing_pod_file(struct testing_pod *t, const char *name)
{
	struct str text = STR("");
	struct err e = ERR_INIT;

	if (file_read(&text, arena_printf(&t->arena, "%s/%s", t->folder, name).p, &t->arena, &e) == FILE_FAILED)
		fail_msg("%s", err_msg(&e));
	return text;
}

bool testing_pod_exists(struct testing_pod *t, const char *name)
{
	return access(arena_printf(&t->arena, "%s/%s", t->folder, name).p, F_OK) == 0;
}

struct str testing_pod_log(struct testing_pod *t, const char *name, int number)
{
	struct str text = testing_pod_file(t, arena_printf(&t->arena, "logs/%s/%d.log", name, number).p), line;
	struct buf out = BUF_INIT(FILE_MAX);

	while (str_next(&text, '\n', &line)) {
		if (line.n == 0)
			continue;
		assert_true(line.n > 39); /* "2026-01-02T03:04:05.678901234Z stdout F " */
		buf_put(&out, str_sub(line, 40, line.n));
		buf_putc(&out, '\n');
	}
	text = arena_str(&t->arena, buf_str(&out));
	buf_release(&out);
	return text;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void testing_pod_end(struct testing_pod *t)
{
	struct err e = ERR_INIT;
	struct cgroup_mounts mounts;
	char path[1024];

	if (t->running) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
	}
	ok(pod_reap(t->folder, &clock_wall, &e), &e);
	cgroup_mounts_find(&mounts);
	for (size_t i = 0; t->spec.cgroup.n && i < mounts.n; i++) {
		snprintf(path, sizeof(path), "%s/%.*s", mounts.v[i].path, STR_F(t->spec.cgroup));
		assert_int_not_equal(access(path, F_OK), 0);
	}
	/* A mount that was left would be busy. */
	assert_int_equal(nftw(t->top, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT), 0);
	arena_release(&t->arena);
}
