#include "client/copy.h"

#include "base/file.h"
#include "client/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { RULE_MAX = 16 << 10 };

/* A path as folder and name: "a/b/" is "a" and "b". */
struct copy_path {
	struct str folder, name;
	bool slash; /* it ends with one */
};

static struct copy_path split_path(struct str path)
{
	struct copy_path ret = { .slash = str_has_suffix(path, STR("/")) };
	size_t at;

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	for (at = path.n; at > 0 && path.p[at - 1] != '/';)
		at--;
	ret.name = str_sub(path, at, path.n);
	ret.folder = at > 1 ? str_sub(path, 0, at - 1) : at ? STR("/") : STR(".");
	return ret;
}

static bool has_name(struct remote *r, const struct copy_path *p, struct str path)
{
	if (p->name.n && !str_eqc(p->name, ".") && !str_eqc(p->name, ".."))
		return true;
	r->cli->status = cli_usage(r->cli, "'%.*s' names neither a file nor a folder", STR_F(path));
	return false;
}

/* tar here, one of its standard streams being FD; -1: it was said why not. */
static pid_t start_tar(struct remote *r, const char *const *argv, int fd, int as)
{
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int problem;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, as);
	problem = posix_spawnp(&pid, "tar", &actions, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (!problem)
		return pid;
	r->cli->status = cli_fail(r->cli, CLI_FAILED, "tar cannot be started: %s", strerror(problem));
	return -1;
}

static bool ended_ok(struct remote *r, pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	r->cli->status = cli_fail(r->cli, CLI_FAILED, "tar failed on this machine");
	return false;
}

/* Runs it there; *RET is its exit status. */
static bool run_there(struct remote *r, const struct pod_copy *c, const char *const *argv, int in, int out, int *ret)
{
	struct exec_call x = { .ns = c->ns,
		               .pod = c->pod,
		               .container = c->container,
		               .command = argv,
		               .in = in,
		               .out = out,
		               .err = STDERR_FILENO };

	while (argv[x.n_command])
		x.n_command++;
	return exec_run(r, &x, ret);
}

static bool succeeded(struct remote *r, const struct pod_copy *c, int status)
{
	if (status == 0)
		return true;
	r->cli->status = cli_fail(r->cli, CLI_FAILED, "tar in %.*s ended with %d", STR_F(c->pod), status);
	return false;
}

/* To the pod */

/* sed's s,^OLD\(/\|$\),NEW\1, for the names of members alone: what a link says stays. */
static const char *rename_rule(struct remote *r, struct str from, struct str to)
{
	const struct str parts[] = { from, to };
	struct buf b = BUF_INIT(RULE_MAX);
	const char *ret;

	buf_put(&b, STR("--transform=flags=rSh;s,^"));
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < parts[k].n; i++) {
			if (strchr(k ? "\\&," : "\\.[]*^$,", parts[k].p[i]))
				buf_putc(&b, '\\');
			buf_putc(&b, parts[k].p[i]);
		}
		buf_put(&b, k ? STR("\\1,") : STR("\\(/\\|$\\),"));
	}
	ret = arena_str(&r->arena, buf_str(&b)).p;
	buf_release(&b);
	return ret;
}

static bool is_folder_there(struct remote *r, const struct pod_copy *c, const char *path, bool *ret)
{
	const char *const argv[] = { "test", "-d", path, NULL };
	int status;

	if (!run_there(r, c, argv, -1, STDOUT_FILENO, &status))
		return false;
	*ret = status == 0;
	return true;
}

static bool send_tar(struct remote *r, const struct pod_copy *c, const char *const *here, const char *const *there)
{
	int ends[2], status = 0;
	bool ok;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		r->cli->status = cli_fail(r->cli, CLI_FAILED, "no pipe: %s", strerror(errno));
		return false;
	}
	pid = start_tar(r, here, ends[1], STDOUT_FILENO);
	close(ends[1]);
	ok = pid > 0 && run_there(r, c, there, ends[0], STDOUT_FILENO, &status);
	close(ends[0]);
	if (pid > 0 && !ok)
		waitpid(pid, NULL, 0);
	return ok && ended_ok(r, pid) && succeeded(r, c, status);
}

bool copy_to_pod(struct remote *r, const struct pod_copy *c)
{
	struct arena *a = &r->arena;
	struct copy_path from = split_path(str_c(c->here)), to = split_path(c->there);
	const char *there = arena_str(a, c->there).p, *name = arena_str(a, from.name).p,
		   *folder = arena_str(a, from.folder).p;
	bool into = to.slash || !to.name.n || str_eqc(to.name, ".") || str_eqc(to.name, "..");
	struct stat st;

	if (!has_name(r, &from, str_c(c->here)))
		return false;
	if (lstat(c->here, &st) != 0) {
		r->cli->status = cli_fail(r->cli, CLI_FAILED, "%s: %s", c->here, strerror(errno));
		return false;
	}
	if (!into && !is_folder_there(r, c, there, &into))
		return false;
	if (into || str_eq(from.name, to.name)) {
		const char *const here[] = { "tar", "-cf", "-", "-C", folder, "--", name, NULL };
		const char *const unpack[] = {
			"tar", "-xmf", "-", "-C", into ? there : arena_str(a, to.folder).p, NULL
		};

		return send_tar(r, c, here, unpack);
	}
	return send_tar(r, c,
	                (const char *const[]){ "tar", "-cf", "-", rename_rule(r, from.name, to.name), "-C", folder,
	                                       "--", name, NULL },
	                (const char *const[]){ "tar", "-xmf", "-", "-C", arena_str(a, to.folder).p, NULL });
}

/* From the pod */

/* Unpacks into FOLDER, which is new and nobody else's. */
static bool receive_tar(struct remote *r, const struct pod_copy *c, const struct copy_path *from, const char *folder)
{
	const char *const here[] = {
		"tar", "-xmf", "-", "--no-same-owner", "--no-same-permissions", "-C", folder, NULL
	};
	const char *const there[] = {
		"tar", "-cf", "-", "-C", arena_str(&r->arena, from->folder).p, "--", arena_str(&r->arena, from->name).p,
		NULL
	};
	int ends[2], status = 0;
	bool ok;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		r->cli->status = cli_fail(r->cli, CLI_FAILED, "no pipe: %s", strerror(errno));
		return false;
	}
	pid = start_tar(r, here, ends[0], STDIN_FILENO);
	close(ends[0]);
	ok = pid > 0 && run_there(r, c, there, -1, ends[1], &status);
	close(ends[1]);
	if (pid > 0 && !(ok && status == 0))
		waitpid(pid, NULL, 0);
	return ok && succeeded(r, c, status) && ended_ok(r, pid);
}

/* What came gets its place at once, or not at all. */
static bool put_in_place(struct remote *r, const struct pod_copy *c, const char *came, const char *target)
{
	struct err e = ERR_INIT;
	size_t links = 0;
	struct stat st;
	bool ok;

	ok = (lstat(came, &st) == 0 && !S_ISLNK(st.st_mode)) ||
	     err_set(&e, ERR_INVALID, "what came is neither a file nor a folder");
	ok = ok && copy_check(came, &links, &e);
	ok = ok && (rename(came, target) == 0 || err_set(&e, ERR_IO, "%s: %s", target, strerror(errno)));
	if (!ok)
		r->cli->status =
			cli_fail(r->cli, CLI_FAILED, "%.*s of %.*s: %s", STR_F(c->there), STR_F(c->pod), err_msg(&e));
	else if (links)
		fprintf(stderr, "links that lead elsewhere are left out: %zu\n", links);
	err_release(&e);
	return ok;
}

bool copy_from_pod(struct remote *r, const struct pod_copy *c)
{
	struct arena *a = &r->arena;
	struct copy_path from = split_path(c->there), to = split_path(str_c(c->here));
	struct str folder = to.folder, name = to.name;
	struct stat st;
	char *fresh;
	bool ok;

	if (!has_name(r, &from, c->there))
		return false;
	if (to.slash || (stat(c->here, &st) == 0 && S_ISDIR(st.st_mode))) {
		folder = str_c(c->here);
		name = from.name;
	}
	/* Beside the target: from there it can be moved. */
	fresh = (char *)(uintptr_t)arena_printf(a, "%.*s/.dljob-cp-XXXXXX", STR_F(folder)).p;
	if (!mkdtemp(fresh)) {
		r->cli->status = cli_fail(r->cli, CLI_FAILED, "%.*s: %s", STR_F(folder), strerror(errno));
		return false;
	}
	ok = receive_tar(r, c, &from, fresh) &&
	     put_in_place(r, c, arena_printf(a, "%s/%.*s", fresh, STR_F(from.name)).p,
	                  arena_printf(a, "%.*s/%.*s", STR_F(folder), STR_F(name)).p);
	file_remove_tree(fresh, false, NULL);
	return ok;
}
