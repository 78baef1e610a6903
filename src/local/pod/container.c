#include "local/pod/container.h"

#include "local/pod/child.h"
#include "local/pod/helper.h"
#include "local/pod/parent.h"
#include "local/pod/probe.h"
#include "local/pod/process.h"
#include "local/pod/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 65536, FAULT_MAX = 4096, MESSAGE_MAX = 4096, START_FAILED = 128 };
#define LOG_BYTES ((int64_t)10 << 20)
#define LOG_FILES 5

static const char *log_path(struct proc_container *c, int64_t number, char ret[static 256])
{
	snprintf(ret, 256, "logs/%.*s/%lld.log", STR_F(c->spec->name), (long long)number);
	return ret;
}

static void fd_close(struct container_fd *f)
{
	loop_fd_free(f->watch);
	f->watch = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* False: there is nothing more now, or for ever. */
static bool fd_read(struct proc_container *c, int which)
{
	struct container_fd *f = &c->fds[which];
	char text[CHUNK];
	ssize_t n = read(f->fd, text, sizeof(text));

	if (n < 0)
		return errno == EINTR;
	if (n == 0) {
		if (which != CONTAINER_FAULT)
			pod_log_end(&c->log, which == CONTAINER_ERR ? POD_STDERR : POD_STDOUT);
		fd_close(f);
		return false;
	}
	if (which == CONTAINER_FAULT)
		buf_put(&c->fault, (struct str){ text, (size_t)n });
	else
		pod_log_add(&c->log, which == CONTAINER_ERR ? POD_STDERR : POD_STDOUT, (struct str){ text, (size_t)n });
	return true;
}

void container_set_ready(struct proc_container *c, bool ready)
{
	if (c->state->ready == ready)
		return;
	c->state->ready = ready;
	c->state->ready_since = clock_now(c->pod->clock);
	pod_changed(c->pod);
}

/* The pipe closes without a word when the program begins. */
static void began(struct proc_container *c)
{
	struct proc_pod *p = c->pod;
	struct process_stat st;
	char which[32];

	if (c->began || c->fault.n)
		return;
	c->began = true;
	c->began_at = loop_now(p->loop);
	c->state->now.run = POD_RUN_RUNNING;
	c->state->now.reason = STR_NONE;
	c->state->now.started = clock_now(p->clock);
	c->state->pid = c->pid;
	snprintf(which, sizeof(which), "%lld", (long long)c->pid);
	c->state->pid_start = process_stat(&st, which) ? st.start : 0;
	c->state->started = c->spec->startup.kind == POD_PROBE_NONE;
	container_set_ready(c, c->state->started && c->spec->readiness.kind == POD_PROBE_NONE);
	probes_arm(c);
	pod_changed(p);
}

/* Whoever looks for lines that are not there hears it with the first of them; how many they were when it is over. */
static void count_lost(struct proc_container *c, bool over)
{
	const struct pod_log *l = &c->log;
	struct str name = c->spec->name;
	char path[256], many[48] = "lines";

	if (!l->dropped || (!over && c->log_lost))
		return;
	c->log_lost = true;
	if (over)
		snprintf(many, sizeof(many), "%lld line%s", (long long)l->dropped, l->dropped == 1 ? "" : "s");
	log_path(c, c->state->restarts, path);
	c->state->log_problem =
		arena_printf(&c->pod->arena, "%s of %.*s %s lost: %s/%s: %s", many, STR_F(name),
	                     over && l->dropped == 1 ? "is" : "are", c->pod->folder, path, strerror(l->problem));
}

static void on_readable(void *cookie, int events)
{
	struct container_fd *f = cookie;
	struct proc_container *c = f->c;
	int which = (int)(f - c->fds);

	(void)events;
	fd_read(c, which);
	if (which == CONTAINER_FAULT && f->fd < 0)
		began(c);
	if (c->state->log_dropped != c->log.dropped) {
		c->state->log_dropped = c->log.dropped;
		count_lost(c, false);
		pod_changed(c->pod);
	}
}

static bool make_pipes(struct proc_container *c, int child[static CONTAINER_FDS])
{
	for (int i = 0; i < CONTAINER_FDS; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) != 0)
			return false;
		child[i] = ends[1];
		c->fds[i].fd = ends[0];
		c->fds[i].watch = loop_fd_new(c->pod->loop, ends[0], on_readable, &c->fds[i]);
		loop_fd_set(c->fds[i].watch, LOOP_READ);
	}
	return true;
}

/* Empty, and writable for whoever the container runs as. */
static void fresh_message(struct proc_container *c)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "termination/%.*s", STR_F(c->spec->name));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	if (fd < 0)
		return;
	fchmod(fd, 0666);
	close(fd);
}

static void open_log(struct proc_container *c)
{
	const struct pod_spec *s = &c->pod->spec;
	char path[256], rotated[300];

	/* The one before is kept; what is older goes. */
	if (c->state->restarts >= 2) {
		log_path(c, c->state->restarts - 2, path);
		unlink(path);
		for (int i = 1; i < (s->log_files ? s->log_files : LOG_FILES); i++) {
			snprintf(rotated, sizeof(rotated), "%s.%d", path, i);
			unlink(rotated);
		}
	}
	snprintf(path, sizeof(path), "logs/%.*s", STR_F(c->spec->name));
	mkdir(path, 0755);
	pod_log_open(&c->log, log_path(c, c->state->restarts, path), s->log_bytes ? s->log_bytes : LOG_BYTES,
	             s->log_files ? s->log_files : LOG_FILES, pod_log_clock);
}

void container_start(struct proc_container *c)
{
	struct proc_pod *p = c->pod;
	int child[CONTAINER_FDS] = { -1, -1, -1 };

	ASSERT(!container_runs(c));
	c->began = c->reaped = c->cannot = c->stop = c->term_sent = c->killed = c->log_lost = false;
	c->kill_at = 0;
	c->status = 0;
	c->pre_stop = (struct pod_helper){ .pid = 0 };
	c->fault = (struct buf)BUF_INIT(FAULT_MAX);
	c->state->now = (struct pod_container_run){ .run = POD_RUN_WAITING, .reason = STR("ContainerCreating") };
	fresh_message(c);
	open_log(c);
	if (p->state.cgroup.n) {
		cgroup_make(&p->cgroups, p->state.cgroup, c->spec, pod_note, p);
		c->oom_before = cgroup_oom_kills(&p->cgroups, p->state.cgroup, c->spec->name);
	}
	c->pid = make_pipes(c, child)
	                 ? child_container(c, child[CONTAINER_OUT], child[CONTAINER_ERR], child[CONTAINER_FAULT])
	                 : -1;
	if (c->pid < 0) {
		buf_printf(&c->fault, "%cno process: %s", FAULT_CREATE, strerror(errno));
		c->pid = -1;
		c->reaped = true;
		pod_wake(p);
	}
	for (int i = 0; i < CONTAINER_FDS; i++)
		if (child[i] >= 0)
			close(child[i]);
	pod_changed(p);
}

void container_signal(struct proc_container *c, int signum)
{
	if (c->pid > 1)
		kill(-c->pid, signum);
}

void container_kill(struct proc_container *c)
{
	struct proc_pod *p = c->pod;

	container_signal(c, SIGKILL);
	/* Before it has a group of its own. */
	if (c->pid > 1 && !c->reaped)
		kill(c->pid, SIGKILL);
	if (p->state.cgroup.n && cgroup_kill(&p->cgroups, p->state.cgroup, c->spec->name))
		return;
	if (p->own_proc)
		process_kill_session(c->pid);
}

/* What the container left as its last words. */
static struct str last_words(struct proc_container *c, int64_t exit_code)
{
	struct buf text = BUF_INIT(MESSAGE_MAX);
	char path[256], piece[MESSAGE_MAX];
	struct str words;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "termination/%.*s", STR_F(c->spec->name));
	/* Who has our rights may have put a link or a FIFO there. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		n = read(fd, piece, sizeof(piece));
		close(fd);
	}
	if (n > 0)
		buf_utf8(&text, (struct str){ piece, (size_t)n });
	else if (exit_code != 0 && c->spec->termination_logs)
		pod_log_tail(log_path(c, c->state->restarts, path), &text);
	words = arena_str(&c->pod->arena, buf_str(&text));
	buf_release(&text);
	return words;
}

static void judge_exit(struct proc_container *c, struct pod_container_run *r)
{
	struct proc_pod *p = c->pod;

	r->exit_code = WIFEXITED(c->status) ? WEXITSTATUS(c->status) : 128 + WTERMSIG(c->status);
	r->signal = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
	r->reason = r->exit_code ? STR("Error") : STR("Completed");
	if (r->exit_code && p->state.cgroup.n &&
	    cgroup_oom_kills(&p->cgroups, p->state.cgroup, c->spec->name) > c->oom_before)
		r->reason = STR("OOMKilled");
	r->message = last_words(c, r->exit_code);
}

static void judge_fault(struct proc_container *c, struct pod_container_run *r)
{
	struct str text = buf_str(&c->fault);

	r->exit_code = START_FAILED;
	r->reason = *text.p == FAULT_START ? STR("StartError") : STR("CreateContainerError");
	r->message = arena_str(&c->pod->arena, str_sub(text, 1, text.n));
}

/* Everything of it is over. */
static void ended(struct proc_container *c)
{
	struct pod_container_run *r = &c->state->now;
	msec started = r->started;

	*r = (struct pod_container_run){ .run = POD_RUN_TERMINATED, .started = started };
	r->finished = clock_now(c->pod->clock);
	if (!started)
		r->started = r->finished;
	if (c->fault.n)
		judge_fault(c, r);
	else
		judge_exit(c, r);
	c->pid = 0;
	c->state->pid = c->state->pid_start = 0;
	c->state->started = false;
	/* An init container that has done its work is ready. */
	container_set_ready(c, c->spec->init && !c->spec->sidecar && r->exit_code == 0);
	pod_log_close(&c->log);
	c->state->log_dropped = c->log.dropped;
	count_lost(c, true);
	buf_release(&c->fault);
	pod_changed(c->pod);
}

/* What is in the pipes was written before the end; whoever still holds the other side has nothing more to say. */
static void drain(struct proc_container *c)
{
	for (int i = CONTAINER_FDS - 1; i >= 0; i--) {
		int left = 0;

		if (c->fds[i].fd < 0)
			continue;
		if (ioctl(c->fds[i].fd, FIONREAD, &left) == 0)
			for (; left > 0 && c->fds[i].fd >= 0; left -= CHUNK)
				fd_read(c, i);
		fd_close(&c->fds[i]);
	}
	began(c);
}

static bool group_is_empty(const struct proc_container *c)
{
	return c->pid <= 1 || (kill(-c->pid, 0) != 0 && errno == ESRCH);
}

void container_step(struct proc_container *c, msec now)
{
	if (!container_runs(c))
		return;
	stop_container_step(c, now);
	if (!c->reaped)
		return;
	/* While it is being stopped, what the first process leaves behind has the rest of the time. */
	if (c->term_sent && !c->killed && !group_is_empty(c))
		return;
	container_kill(c);
	drain(c);
	probes_disarm(c);
	helper_kill(&c->pre_stop);
	execs_kill(c);
	ended(c);
}
