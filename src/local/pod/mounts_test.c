/* What containers see: volumes wherever they are wanted, and nothing of it on the machine. */
#include "local/pod/mounts.h"
#include "local/pod/testing.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void assert_str(struct str s, const char *want)
{
	if (!str_eqc(s, want))
		fail_msg("got \"%.*s\", want \"%s\"", STR_F(s), want);
}

static void begin(struct testing_pod *t)
{
	testing_pod_needs_namespaces();
	testing_pod_begin(t);
}

static struct pod_volume *add_volume(struct testing_pod *t, const char *name)
{
	struct pod_volume *v = vec_push(&t->arena, &t->spec.volumes);

	*v = (struct pod_volume){ .name = str_c(name) };
	return v;
}

static void run_ok(struct testing_pod *t)
{
	testing_pod_run(t);
	for (size_t i = 0; i < t->state.containers.n; i++) {
		struct pod_container_state *c = &t->state.containers.v[i];

		if (c->now.exit_code != 0)
			fail_msg("%.*s: %.*s", STR_F(c->name), STR_F(testing_pod_file(t, "state.json")));
	}
}

/* Below the root, below a folder that is there, deep, on a folder that is there, and one inside another. */
static void test_points_anywhere(void **state)
{
	static const char *const paths[] = { "/data", "/usr/lib/data/deep/er", "/srv", "/data/inner/x", "/etc/data" };
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	begin(&t);
	add_volume(&t, "v");
	add_volume(&t, "w");
	c = testing_pod_sh(&t, "main",
	                   "echo v >/data/f; echo w >/usr/lib/data/deep/er/f; ls /srv /data/inner/x /etc/data;"
	                   "test -e /usr/lib/os-release; test -e /etc/passwd; test -x /bin/sh; test -d /proc/1;"
	                   "touch /usr/lib/mine /etc/mine /mine; echo $$ >/dev/null; ls -d /proc/self >/dev/null");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		testing_pod_mount(&t, c, i % 2 ? "w" : "v", paths[i]);
	testing_pod_run(&t);
	assert_str(testing_pod_log(&t, "main", 0), "/data/inner/x:\nf\n\n/etc/data:\nf\ninner\n\n/srv:\nf\ninner\n");
	assert_int_equal(testing_pod_container(&t, "main")->now.exit_code, 0);
	assert_str(testing_pod_file(&t, "volumes/v/f"), "v\n");
	assert_str(testing_pod_file(&t, "volumes/w/f"), "w\n");
	assert_int_not_equal(access("/data/inner", F_OK), 0);
	assert_int_not_equal(access("/usr/lib/data", F_OK), 0);
	assert_int_not_equal(access("/etc/data", F_OK), 0);
	/* What a container writes beside a point that was made for it goes with it. */
	assert_int_not_equal(access("/usr/lib/mine", F_OK), 0);
	assert_int_not_equal(access("/etc/mine", F_OK), 0);
	assert_int_not_equal(access("/mine", F_OK), 0);
	testing_pod_end(&t);
}

/* A folder of the machine is used as it is; a point that is missing inside it is not made there. */
static void test_host_path(void **state)
{
	struct testing_pod t;
	struct pod_container *c;
	struct pod_volume *v;
	struct str host;

	(void)state;
	begin(&t);
	host = arena_printf(&t.arena, "%s/host", t.top);
	assert_int_equal(mkdir(host.p, 0755), 0);
	v = add_volume(&t, "h");
	v->kind = POD_VOLUME_HOST;
	v->path = host;
	add_volume(&t, "e");
	c = testing_pod_sh(&t, "main", "echo kept >/h/sub/kept; echo gone >/h/e/gone; ls /h/e");
	testing_pod_mount(&t, c, "h", "/h");
	testing_pod_mount(&t, c, "e", "/h/e");
	assert_int_equal(mkdir(arena_printf(&t.arena, "%s/sub", host.p).p, 0755), 0);
	run_ok(&t);
	assert_int_equal(access(arena_printf(&t.arena, "%s/sub/kept", host.p).p, F_OK), 0);
	assert_int_not_equal(access(arena_printf(&t.arena, "%s/e", host.p).p, F_OK), 0);
	testing_pod_end(&t);
}

static void test_host_path_types(void **state)
{
	struct testing_pod t;
	struct pod_volume *v;
	const char *made;

	(void)state;
	begin(&t);
	v = add_volume(&t, "none");
	v->kind = POD_VOLUME_HOST;
	v->path = arena_printf(&t.arena, "%s/none", t.top);
	v = add_volume(&t, "file");
	v->kind = POD_VOLUME_HOST;
	v->host = POD_HOST_FILE;
	v->path = STR("/etc");
	v = add_volume(&t, "make");
	v->kind = POD_VOLUME_HOST;
	v->host = POD_HOST_DIR_CREATE;
	v->path = arena_printf(&t.arena, "%s/make", t.top);
	made = v->path.p;
	testing_pod_mount(&t, testing_pod_sh(&t, "a", "true"), "none", "/x");
	testing_pod_mount(&t, testing_pod_sh(&t, "b", "true"), "file", "/x");
	testing_pod_mount(&t, testing_pod_sh(&t, "c", "true"), "make", "/x");
	testing_pod_run(&t);
	assert_str(testing_pod_container(&t, "a")->now.reason, "CreateContainerError");
	assert_str(testing_pod_container(&t, "a")->now.message,
	           arena_printf(&t.arena, "volume none: hostPath %s/none: No such file or directory", t.top).p);
	assert_str(testing_pod_container(&t, "b")->now.message, "volume file: hostPath /etc is a folder");
	assert_int_equal(testing_pod_container(&t, "c")->now.exit_code, 0);
	assert_int_equal(access(made, F_OK), 0);
	testing_pod_end(&t);
}

static void add_file(struct testing_pod *t, struct pod_volume *v, const char *path, const char *data, unsigned mode)
{
	*vec_push(&t->arena, &v->files) = (struct pod_file){ str_c(path), str_c(data), mode };
}

static void test_files(void **state)
{
	struct testing_pod t;
	struct pod_container *c;
	struct pod_volume *v;

	(void)state;
	begin(&t);
	v = add_volume(&t, "cm");
	v->read_only = true;
	add_file(&t, v, "a", "A", 0644);
	add_file(&t, v, "deep/b", "B", 0400);
	add_volume(&t, "e");
	c = testing_pod_sh(&t, "main",
	                   "cat /cm/a /cm/deep/b /etc/one; stat -c %a /cm/deep/b;"
	                   "! echo x 2>/dev/null >/cm/a; ! touch /ro/x 2>/dev/null; ls -d /sub; touch /sub/y");
	testing_pod_mount(&t, c, "cm", "/cm");
	testing_pod_mount(&t, c, "cm", "/etc/one");
	c->mounts.v[1].sub_path = STR("a");
	testing_pod_mount(&t, c, "e", "/ro");
	c->mounts.v[2].read_only = true;
	testing_pod_mount(&t, c, "e", "/sub");
	c->mounts.v[3].sub_path = STR("made");
	run_ok(&t);
	assert_str(testing_pod_log(&t, "main", 0), "ABA400\n/sub\n");
	assert_true(testing_pod_exists(&t, "volumes/e/made/y"));
	testing_pod_end(&t);
}

/* Each container has mounts of its own; what is in memory they share. */
static void test_memory_and_shm(void **state)
{
	struct testing_pod t;
	struct pod_container *c;
	struct pod_volume *v;

	(void)state;
	begin(&t);
	v = add_volume(&t, "m");
	v->kind = POD_VOLUME_MEMORY;
	v->size = 1 << 20;
	c = testing_pod_sh(&t, "a", "stat -f -c %T /m; echo a >/m/a; echo shm >/dev/shm/x");
	c->init = true;
	testing_pod_mount(&t, c, "m", "/m");
	c = testing_pod_sh(&t, "b", "cat /n/a /dev/shm/x; test ! -e /m");
	testing_pod_mount(&t, c, "m", "/n");
	run_ok(&t);
	assert_str(testing_pod_log(&t, "a", 0), "tmpfs\n");
	assert_str(testing_pod_log(&t, "b", 0), "a\nshm\n");
	assert_int_not_equal(access("/dev/shm/x", F_OK), 0);
	assert_false(testing_pod_exists(&t, "volumes/m/a"));
	testing_pod_end(&t);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void test_hosts_and_names(void **state)
{
	struct testing_pod t;
	struct err e = ERR_INIT;

	(void)state;
	begin(&t);
	testing_pod_sh(&t, "main",
	               "cat /etc/hosts; uname -n; echo $A; pwd; id -u;"
	               "! echo 10.0.0.9 peer 2>/dev/null >>/etc/hosts; echo options timeout:1 >>/etc/resolv.conf")
		->cwd = STR("/usr");
	*vec_push(&t.arena, &t.spec.containers.v[0].env) = (struct pod_env){ STR("A"), STR("a b") };
	assert_true(pod_prepare(t.folder, &t.spec, &e));
	write_text(arena_printf(&t.arena, "%s/shared", t.folder).p, "10.0.0.1 peer\n");
	assert_int_equal(symlink("shared", arena_printf(&t.arena, "%s/hosts", t.folder).p), 0);
	write_text(arena_printf(&t.arena, "%s/resolv.conf", t.folder).p, "nameserver 10.0.0.2\n");
	run_ok(&t);
	/* Others read what is behind a link: what a container has to say is not in it. */
	assert_str(testing_pod_file(&t, "hosts"), "10.0.0.1 peer\n");
	assert_str(testing_pod_file(&t, "resolv.conf"), "nameserver 10.0.0.2\noptions timeout:1\n");
	assert_str(testing_pod_log(&t, "main", 0), "10.0.0.1 peer\npod-0\na b\n/usr\n0\n");
	testing_pod_end(&t);
}

static void test_last_words(void **state)
{
	struct testing_pod t;

	(void)state;
	begin(&t);
	testing_pod_sh(&t, "file", "echo bye >/dev/termination-log")->termination_path = STR("/dev/termination-log");
	testing_pod_sh(&t, "logs", "echo one; echo two; exit 1")->termination_logs = true;
	testing_pod_sh(&t, "fine", "echo one")->termination_logs = true;
	testing_pod_sh(&t, "else", "echo bye >/nowhere/last")->termination_path = STR("/nowhere/last");
	testing_pod_run(&t);
	assert_str(testing_pod_container(&t, "file")->now.message, "bye\n");
	assert_str(testing_pod_container(&t, "logs")->now.message, "one\ntwo\n");
	assert_str(testing_pod_container(&t, "fine")->now.message, "");
	assert_str(testing_pod_container(&t, "else")->now.message, "bye\n");
	testing_pod_end(&t);
}

/* A tree for the machine's own programs, and a volume with them: /usr. */
static struct str make_tree(struct testing_pod *t)
{
	static const char *const links[][2] = { { "bin", "usr/bin" }, { "lib", "usr/lib" }, { "lib64", "usr/lib64" } };
	struct str tree = arena_printf(&t->arena, "%s/tree", t->top);
	struct pod_volume *v;

	assert_int_equal(mkdir(tree.p, 0755), 0);
	assert_int_equal(mkdir(arena_printf(&t->arena, "%s/usr", tree.p).p, 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		assert_int_equal(symlink(links[i][1], arena_printf(&t->arena, "%s/%s", tree.p, links[i][0]).p), 0);
	v = add_volume(t, "usr");
	v->kind = POD_VOLUME_HOST;
	v->path = STR("/usr");
	return tree;
}

/* One file that only the tree has. */
static void test_rootfs(void **state)
{
	struct testing_pod t;
	struct pod_container *c;
	struct str tree;

	(void)state;
	begin(&t);
	tree = make_tree(&t);
	write_text(arena_printf(&t.arena, "%s/only-here", tree.p).p, "tree\n");
	add_volume(&t, "e");
	c = testing_pod_sh(&t, "main",
	                   "cat /only-here; test ! -e /home; test -d /proc/self; test -c /dev/null; echo x >/e/x");
	c->rootfs = tree;
	testing_pod_mount(&t, c, "usr", "/usr");
	testing_pod_mount(&t, c, "e", "/e");
	run_ok(&t);
	assert_str(testing_pod_log(&t, "main", 0), "tree\n");
	assert_int_not_equal(access(arena_printf(&t.arena, "%s/e", tree.p).p, F_OK), 0);
	assert_int_not_equal(access(arena_printf(&t.arena, "%s/proc", tree.p).p, F_OK), 0);
	testing_pod_end(&t);
}

/* Links of a tree lead to nothing outside of it where a container leaves its last words. */
static void test_last_words_behind_links(void **state)
{
	static const struct {
		const char *link, *to, *path, *want;
	} cases[] = {
		{ "up", "../victim", "/up/last", "CreateContainerError" },
		{ "further", "../../../../../..%s/victim", "/further/deep/last", "CreateContainerError" },
		{ "abs", "%s/victim", "/abs/last", "CreateContainerError" },
		{ "deep", "%s/victim", "/deep/er/last", "CreateContainerError" },
		{ "file", "%s/victim/last", "/file", "CreateContainerError" },
		{ "inside", "/words", "/inside/last", "Completed" },
		{ "upfile", "../victim/last", "/upfile", "CreateContainerError" },
	};
	struct testing_pod t;
	struct pod_container *c;
	struct str tree, victim;

	(void)state;
	begin(&t);
	tree = make_tree(&t);
	victim = arena_printf(&t.arena, "%s/victim", t.top);
	assert_int_equal(mkdir(victim.p, 0755), 0);
	assert_int_equal(mkdir(arena_printf(&t.arena, "%s/words", tree.p).p, 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str to = str_c(cases[i].to);

		if (strstr(to.p, "%s"))
			to = arena_printf(&t.arena, "%.*s%s%s", (int)(strstr(to.p, "%s") - to.p), to.p, t.top,
			                  strstr(to.p, "%s") + 2);
		assert_int_equal(symlink(to.p, arena_printf(&t.arena, "%s/%s", tree.p, cases[i].link).p), 0);
		c = testing_pod_sh(&t, cases[i].link, arena_printf(&t.arena, "echo bye >%s", cases[i].path).p);
		c->termination_path = str_c(cases[i].path);
		c->rootfs = tree;
		testing_pod_mount(&t, c, "usr", "/usr");
	}
	testing_pod_run(&t);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_str(testing_pod_container(&t, cases[i].link)->now.reason, cases[i].want);
	assert_str(testing_pod_container(&t, "inside")->now.message, "bye\n");
	/* Only what is empty can be removed. */
	assert_int_equal(rmdir(victim.p), 0);
	testing_pod_end(&t);
}

/* Links that one container leaves in a volume lead the next one's mounts nowhere outside of it. */
static void test_links_in_a_volume(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	begin(&t);
	add_volume(&t, "v");
	c = testing_pod_sh(&t, "links",
	                   "ln -s /etc /v/abs; ln -s ../../../../../../etc /v/up; ln -s /etc/passwd /v/file;"
	                   "mkdir /v/dir; ln -s dir /v/good");
	c->init = true;
	testing_pod_mount(&t, c, "v", "/v");
	c = testing_pod_sh(&t, "abs", "test ! -e /x/passwd; touch /x/made-by-abs");
	testing_pod_mount(&t, c, "v", "/x");
	c->mounts.v[0].sub_path = STR("abs");
	c = testing_pod_sh(&t, "up", "test ! -e /x/passwd; touch /x/made-by-up");
	testing_pod_mount(&t, c, "v", "/x");
	c->mounts.v[0].sub_path = STR("up/deep");
	c = testing_pod_sh(&t, "file", "true");
	testing_pod_mount(&t, c, "v", "/x");
	c->mounts.v[0].sub_path = STR("file");
	c = testing_pod_sh(&t, "good", "touch /x/made-by-good");
	testing_pod_mount(&t, c, "v", "/x");
	c->mounts.v[0].sub_path = STR("good/a/b");
	testing_pod_run(&t);
	assert_int_not_equal(access("/etc/made-by-abs", F_OK), 0);
	assert_int_not_equal(access("/etc/deep", F_OK), 0);
	assert_str(testing_pod_container(&t, "abs")->now.reason, "CreateContainerError");
	assert_str(testing_pod_container(&t, "abs")->now.message, "volume v: volumes/v/abs: No such file or directory");
	assert_str(testing_pod_container(&t, "up")->now.message, "volume v: volumes/v/up: No such file or directory");
	assert_str(testing_pod_container(&t, "file")->now.message,
	           "volume v: volumes/v/file: No such file or directory");
	assert_int_equal(testing_pod_container(&t, "good")->now.exit_code, 0);
	assert_true(testing_pod_exists(&t, "volumes/v/dir/a/b/made-by-good"));
	testing_pod_end(&t);
}

/* A mount point in a volume, behind a link in it: nothing is made on the machine. */
static void test_point_behind_a_link(void **state)
{
	struct testing_pod t;
	struct pod_container *c;
	struct str host;

	(void)state;
	begin(&t);
	host = arena_printf(&t.arena, "%s/host", t.top);
	assert_int_equal(mkdir(host.p, 0755), 0);
	add_volume(&t, "v");
	add_volume(&t, "w");
	c = testing_pod_sh(&t, "links", arena_printf(&t.arena, "ln -s %s /v/out", host.p).p);
	c->init = true;
	testing_pod_mount(&t, c, "v", "/v");
	c = testing_pod_sh(&t, "main", "echo x >/v/out/point/x");
	testing_pod_mount(&t, c, "v", "/v");
	testing_pod_mount(&t, c, "w", "/v/out/point");
	run_ok(&t);
	assert_true(testing_pod_exists(&t, "volumes/w/x"));
	assert_int_not_equal(access(arena_printf(&t.arena, "%s/point", host.p).p, F_OK), 0);
	testing_pod_end(&t);
}

/* So many folders would have to be made that it is said, with what to do. */
static void test_too_many_points(void **state)
{
	struct testing_pod t;
	struct pod_container *c;

	(void)state;
	begin(&t);
	add_volume(&t, "v");
	c = testing_pod_sh(&t, "main", "true");
	for (int i = 0; i < POD_MOUNTS_MAX; i++)
		testing_pod_mount(&t, c, "v", arena_printf(&t.arena, "/points/%d/a/b/c/d/e/f/g/h", i).p);
	testing_pod_run(&t);
	assert_str(testing_pod_container(&t, "main")->now.reason, "CreateContainerError");
	assert_non_null(strstr(testing_pod_container(&t, "main")->now.message.p,
	                       "folders and mounts for the volumes: create the mount points yourself, or mount less"));
	testing_pod_end(&t);
}

/* As in the API: the message names the path. */
static void test_bad_points(void **state)
{
	struct testing_pod t;

	(void)state;
	begin(&t);
	add_volume(&t, "e");
	testing_pod_mount(&t, testing_pod_sh(&t, "a", "true"), "e", "/etc/passwd");
	testing_pod_mount(&t, testing_pod_sh(&t, "b", "true"), "e", "/etc/passwd/x");
	testing_pod_run(&t);
	assert_str(testing_pod_container(&t, "a")->now.message,
	           "mount point /etc/passwd: /etc/passwd is a file, and what is mounted there is a folder");
	assert_str(testing_pod_container(&t, "b")->now.message,
	           "mount point /etc/passwd/x: /etc/passwd/x: Not a directory");
	testing_pod_end(&t);
}

/* 0: all is as it should be. Its own mount namespace is the test's, so that nothing is left of it. */
static int in_chroot(const char *top)
{
	char proc[96];

	snprintf(proc, sizeof(proc), "%s/proc", top);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mkdir(proc, 0700) ||
	    mount("/proc", proc, NULL, MS_BIND | MS_REC, NULL) || chroot(top) || chdir("/proc/self"))
		return 1;
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0)
		return 2; /* no such place after all */
	if (!mounts_unshare(NULL))
		return 3;
	/* The root and the working directory are those of before. */
	return access("/usr", F_OK) == 0 || access("/proc/self", F_OK) != 0 || access("status", F_OK) != 0 ? 4 : 0;
}

static void test_inside_a_chroot(void **state)
{
	struct testing_pod t;
	int status;
	pid_t pid;

	(void)state;
	begin(&t);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(in_chroot(t.top));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	testing_pod_end(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points_anywhere),   cmocka_unit_test(test_host_path),
		cmocka_unit_test(test_host_path_types),   cmocka_unit_test(test_files),
		cmocka_unit_test(test_memory_and_shm),    cmocka_unit_test(test_hosts_and_names),
		cmocka_unit_test(test_last_words),        cmocka_unit_test(test_rootfs),
		cmocka_unit_test(test_links_in_a_volume), cmocka_unit_test(test_point_behind_a_link),
		cmocka_unit_test(test_too_many_points),   cmocka_unit_test(test_bad_points),
		cmocka_unit_test(test_inside_a_chroot),   cmocka_unit_test(test_last_words_behind_links),
	};
	int status;

	if (testing_is_parent(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
