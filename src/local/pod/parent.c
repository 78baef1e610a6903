#include "local/pod/parent.h"

#include "base/file.h"
#include "base/log.h"
#include "local/pod/container.h"
#include "local/pod/probe.h"
#include "local/pod/process.h"
#include "local/pod/reap.h"
#include "local/pod/run.h"
#include "local/pod/set_up.h"
#include "local/pod/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATE_MAX = 4 << 20, STATE_SPARE = 4096, NOTES_MAX = 32, REMOVE_ROUNDS = 200 };

void pod_wake(struct proc_pod *p)
{
	/* Inside a step the timer is set at its end. */
	p->next = 0;
	loop_timer_set(p->timer, 0);
}

void pod_changed(struct proc_pod *p)
{
	p->dirty = true;
	pod_wake(p);
}

void pod_note(void *pod, const char *text)
{
	struct proc_pod *p = pod;

	for (size_t i = 0; i < p->state.notes.n; i++)
		if (str_eqc(p->state.notes.v[i], text))
			return;
	if (p->state.notes.n == NOTES_MAX)
		return;
	*vec_push(&p->arena, &p->state.notes) = arena_str(&p->arena, str_c(text));
	p->dirty = true;
}

/* The file is there already and has its room: how the pod ends can be said where the disk is full by then. */
static void keep_room(const char *name, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	/* Not every file system can; then the next write finds out whether there is room. */
	if (fd < 0)
		return;
	if (fallocate(fd, 0, 0, (off_t)size) != 0)
		log_debug(NO_FIELDS, "no room is kept for %s: %s", name, strerror(errno));
	close(fd);
}

/* Replaced as a whole. A full disk does not stop the pod: the next change tries again. True unless there was no room.
 */
static bool write_state(struct proc_pod *p)
{
	bool ok = false, last = p->state.life == POD_ENDED;
	const char *name = last ? POD_LAST_STATE : POD_NEXT_STATE;
	struct buf text = BUF_INIT(STATE_MAX);
	int fd, problem;

	pod_state_write(&p->state, &text);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0) {
		errno = 0;
		ok = !text.overflow && write(fd, text.p, text.n) == (ssize_t)text.n;
		/* Only a part of it. */
		if (!ok && !text.overflow && errno == 0)
			errno = ENOSPC;
		ok = ok && ftruncate(fd, (off_t)text.n) == 0;
		close(fd);
		ok = ok && rename(name, "state.json") == 0;
	}
	problem = errno;
	if (ok && last) {
		unlink(POD_NEXT_STATE);
	} else if (ok) {
		keep_room(POD_NEXT_STATE, text.n + STATE_SPARE);
		keep_room(POD_LAST_STATE, text.n + STATE_SPARE);
	}
	/* What was kept for another state that there will not be is room for the next try. */
	if (!ok && last && problem == ENOSPC)
		unlink(POD_NEXT_STATE);
	if (!ok)
		log_warn(NO_FIELDS, "state.json cannot be written: %s", strerror(problem));
	p->dirty = !ok;
	if (!ok)
		pod_wake_at(p, loop_now(p->loop) + SECONDS(1));
	buf_release(&text);
	return ok || (problem != ENOSPC && problem != EDQUOT);
}

static void check_deadline(struct proc_pod *p, msec now)
{
	if (!p->spec.deadline || p->stopping)
		return;
	if (now < p->began + p->spec.deadline) {
		pod_wake_at(p, p->began + p->spec.deadline);
		return;
	}
	p->state.failed = true;
	p->state.reason = STR("DeadlineExceeded");
	p->state.message = STR("Pod was active on the node longer than the specified deadline");
	stop_begin(p, p->spec.grace);
}

static void pod_step(void *cookie)
{
	struct proc_pod *p = cookie;
	msec now = loop_now(p->loop);

	p->next = NEVER;
	pod_reap_children(p);
	for (size_t i = 0; i < p->spec.containers.n; i++)
		container_step(&p->containers[i], now);
	stop_judge_shutdown(p);
	check_deadline(p, now);
	if (!p->draining)
		run_step(p, now);
	if (p->draining)
		stop_step(p, now);
	execs_step(p, now);
	for (size_t i = 0; i < p->spec.containers.n; i++)
		probes_step(&p->containers[i], now);
	if (run_is_over(p)) {
		loop_stop(p->loop);
		return;
	}
	if (p->dirty)
		write_state(p);
	/* Not at once: a timer that sets itself anew would keep everybody else from being heard. */
	if (p->next != NEVER)
		loop_timer_set(p->timer, MAX(p->next - loop_now(p->loop), (msec)1));
}

/* Seconds in the file `grace`, as milliseconds; the spec's if it says nothing else. */
static int64_t asked_grace(struct proc_pod *p, bool *ret_asked)
{
	struct arena a = ARENA_INIT;
	struct str text, word = STR_NONE;
	int64_t seconds = -1;

	*ret_asked = file_read(&text, "grace", &a, NULL) == FILE_READ;
	if (*ret_asked && (!str_next(&text, ' ', &word) || !str_int(str_trim(word), &seconds)))
		seconds = -1;
	p->shutdown |= *ret_asked && !p->stopping && str_eqc(str_trim(text), "shutdown");
	arena_release(&a);
	return seconds >= 0 && seconds < INT32_MAX ? SECONDS(seconds) : p->spec.grace;
}

static void on_parent_signal(void *cookie, int signum)
{
	struct proc_pod *p = cookie;
	bool asked;

	if (signum != SIGCHLD)
		stop_begin(p, asked_grace(p, &asked));
	pod_wake(p);
}

static void begin_state(struct proc_pod *p)
{
	struct pod_state *s = &p->state;
	struct process_stat st;
	char boot[BOOT_ID];

	/* /proc is still that of the one who started us. */
	if (process_stat(&st, "self")) {
		s->pid = st.pid;
		s->pid_start = st.start;
	}
	process_boot(boot);
	s->boot = arena_str(&p->arena, str_c(boot));
	s->own_pids = getpid() == 1;
	s->cgroup = p->spec.cgroup;
	s->started = clock_now(p->clock);
	p->containers = arena_array(&p->arena, struct proc_container, p->spec.containers.n);
	for (size_t i = 0; i < p->spec.containers.n; i++) {
		const struct pod_container *c = &p->spec.containers.v[i];

		*vec_push(&p->arena, &s->containers) = (struct pod_container_state){
			.name = c->name,
			.image = c->image,
			.init = c->init,
			.sidecar = c->sidecar,
			.now = { .reason = STR("PodInitializing") },
		};
	}
	for (size_t i = 0; i < p->spec.containers.n; i++) {
		struct proc_container *c = &p->containers[i];

		*c = (struct proc_container){ .pod = p,
			                      .spec = &p->spec.containers.v[i],
			                      .state = &s->containers.v[i] };
		for (int k = 0; k < CONTAINER_FDS; k++)
			c->fds[k] = (struct container_fd){ .c = c, .fd = -1 };
		probes_arm(c);
	}
}

/* Everything that is still there of it, and the groups. */
static void clear_up(struct proc_pod *p)
{
	struct timespec moment = { .tv_nsec = 5000000 };

	for (int i = 0; i < REMOVE_ROUNDS; i++) {
		/* Orphans have come to us: when their parents die, theirs come too. */
		if (p->state.own_pids)
			kill(-1, SIGKILL);
		else
			process_kill_children(getpid());
		pod_reap_children(p);
		if (cgroup_remove(&p->cgroups, p->state.cgroup) && waitpid(-1, NULL, WNOHANG) < 0)
			break;
		nanosleep(&moment, NULL);
	}
}

static void run_containers(struct proc_pod *p)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGCHLD };
	struct loop_signal *handlers[ARRAY_LEN(signals)];
	bool asked;
	int64_t grace;
	sigset_t heard;

	sigemptyset(&heard);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		handlers[i] = loop_signal_new(p->loop, signals[i], on_parent_signal, p);
		sigaddset(&heard, signals[i]);
	}
	/* They have been held back since the start (become_parent()). */
	sigprocmask(SIG_UNBLOCK, &heard, NULL);
	p->began = loop_now(p->loop);
	/* Whoever wanted it to stop before we could hear it has left word. */
	grace = asked_grace(p, &asked);
	if (asked)
		stop_begin(p, grace);
	execs_open(p);
	pod_changed(p);
	loop_run(p->loop);
	execs_close(p);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		loop_signal_free(handlers[i]);
}

/* Nobody else knows how it ended: where the disk is full, it waits for room. Whoever cannot wait kills us. */
static void write_last(struct proc_pod *p)
{
	static const struct timespec moment = { .tv_sec = 1 };

	while (!write_state(p))
		nanosleep(&moment, NULL);
}

static bool live(struct proc_pod *p, struct err *e)
{
	bool ok;

	begin_state(p);
	ok = pod_set_up(p, e);
	/* Without a word: whoever comes after the one who started us begins anew. */
	if (!ok && p->orphan)
		return false;
	if (ok) {
		/* From now on we need nobody. */
		if (!p->tied)
			prctl(PR_SET_PDEATHSIG, 0);
		write_state(p);
		run_containers(p);
	} else {
		p->state.failed = true;
		p->state.reason = STR("FailedCreatePodSandBox");
		p->state.message = arena_str(&p->arena, str_c(err_msg(e)));
	}
	clear_up(p);
	p->state.life = POD_ENDED;
	p->state.ended = clock_now(p->clock);
	write_last(p);
	return ok;
}

int pod_main(const char *folder, bool tied)
{
	struct proc_pod p = { .clock = &clock_wall, .folder = folder, .self = getpid(), .tied = tied };
	struct err e = ERR_INIT;
	bool ok;

	umask(022);
	ok = chdir(folder) == 0 || err_set(&e, ERR_IO, "%s: %s", folder, strerror(errno));
	ok = ok && pod_spec_read(&p.spec, ".", &p.arena, &e);
	if (ok) {
		p.loop = loop_new();
		p.timer = loop_timer_new(p.loop, pod_step, &p);
		ok = live(&p, &e);
		loop_timer_free(p.timer);
		loop_free(p.loop);
	}
	if (!ok)
		log_error(NO_FIELDS, "pod %s: %s", folder, err_msg(&e));
	err_release(&e);
	arena_release(&p.arena);
	return ok ? 0 : 1;
}
