#include "local/runner/process.h"

#include "base/file.h"
#include "base/log.h"
#include "local/runner/pods.h"
#include "local/runner/start.h"
#include "local/runner/status.h"

#include <errno.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES_WANTED = 65536 };

static void wake(struct runner *r)
{
	if (!r->stepping)
		r->c.wake(r->c.cookie);
}

static void on_folders(void *cookie, int events)
{
	_Alignas(struct inotify_event) char text[16384];
	struct runner *r = cookie;
	ssize_t n;

	(void)events;
	while ((n = read(r->inotify, text, sizeof(text))) > 0) {
		for (char *at = text; at < text + n;) {
			const struct inotify_event *ev = (const void *)at;
			struct runner_pod *p =
				map_get(&r->by_wd, (struct str){ (const char *)&ev->wd, sizeof(ev->wd) });

			at += sizeof(*ev) + ev->len;
			if (p)
				p->state_changed = true;
			/* More than the kernel kept: any of them may have changed. */
			for (p = r->first_pod; (ev->mask & IN_Q_OVERFLOW) && p; p = p->next)
				p->state_changed = true;
		}
		wake(r);
	}
}

/* Two descriptors for each pod at its start, one while it lives. */
static void want_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur >= FILES_WANTED)
		return;
	l.rlim_cur = MIN(l.rlim_max, (rlim_t)FILES_WANTED);
	setrlimit(RLIMIT_NOFILE, &l);
}

bool process_open(struct runner *r, struct err *e)
{
	want_files();
	r->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (r->inotify < 0)
		return err_set(e, ERR_IO, "file changes cannot be watched: %s", strerror(errno));
	r->inotify_watch = loop_fd_new(r->c.loop, r->inotify, on_folders, r);
	loop_fd_set(r->inotify_watch, LOOP_READ);
	return true;
}

void process_close(struct runner *r)
{
	if (r->inotify_watch)
		loop_fd_free(r->inotify_watch);
	if (r->inotify >= 0)
		close(r->inotify);
	map_release(&r->by_wd);
}

static void on_end(void *cookie, int events)
{
	struct runner_pod *p = cookie;

	(void)events;
	/* Once is enough. */
	loop_fd_set(p->ended, 0);
	p->exited = true;
	p->runner->c.wake(p->runner->c.cookie);
}

void start_watch_folder(struct runner *r, struct runner_pod *p)
{
	p->wd = inotify_add_watch(r->inotify, p->folder, IN_MOVED_TO | IN_ONLYDIR);
	if (p->wd >= 0)
		map_put(&r->by_wd, (struct str){ (const char *)&p->wd, sizeof(p->wd) }, p);
}

void start_attach(struct runner *r, struct runner_pod *p, pid_t pid)
{
	p->pid = pid;
	p->exited = false;
	p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	p->ended = p->pidfd >= 0 ? loop_fd_new(r->c.loop, p->pidfd, on_end, p) : NULL;
	if (p->ended)
		loop_fd_set(p->ended, LOOP_READ);
	else if (p->pidfd < 0 && errno == ESRCH)
		p->exited = true;
	pods_set_stage(r, p, RUN_LIVES);
}

void process_forget(struct runner *r, struct runner_pod *p)
{
	if (p->wd >= 0) {
		map_del(&r->by_wd, (struct str){ (const char *)&p->wd, sizeof(p->wd) });
		inotify_rm_watch(r->inotify, p->wd);
	}
	if (p->ended)
		loop_fd_free(p->ended);
	if (p->pidfd >= 0)
		close(p->pidfd);
	if (p->netns >= 0)
		close(p->netns);
	p->ended = NULL;
	p->wd = p->pidfd = p->netns = -1;
}

/* No zombie is left of a child; one that was adopted is somebody else's. */
static void wait_for(struct runner_pod *p)
{
	siginfo_t info;

	if (p->pidfd >= 0)
		waitid(P_PIDFD, (id_t)p->pidfd, &info, WEXITED | WNOHANG);
	else if (p->pid > 0)
		waitpid(p->pid, NULL, WNOHANG);
}

static struct str last_words(struct runner *r, struct runner_pod *p)
{
	struct str text = STR_NONE, line, last = STR("its state is unknown");

	if (file_read(&text, arena_printf(&r->round, "%s/parent.log", p->folder).p, &r->round, NULL) != FILE_READ)
		return last;
	while (str_next(&text, '\n', &line))
		if (str_trim(line).n)
			last = str_trim(line);
	return last;
}

/* It was started by the one before us, with whom it ended: before its first word no container was started. */
static bool begin_anew(struct runner *r, struct runner_pod *p)
{
	struct err e = ERR_INIT;

	if (!pod_reap(p->folder, r->c.clock, &e) || !file_remove_tree(p->folder, false, &e)) {
		log_warn(FIELDS(F_STR("pod", str_c(p->name))), "%s", err_msg(&e));
		err_release(&e);
		return false;
	}
	p->adopted = p->status_due = p->state_changed = false;
	pods_set_stage(r, p, RUN_BOUND);
	runner_wake_at(r, r->now);
	return true;
}

void process_over(struct runner *r, struct runner_pod *p)
{
	enum pod_found found = POD_FOUND_NOTHING;
	struct err e = ERR_INIT;
	pid_t pid;

	wait_for(p);
	if (!pod_find(p->folder, &found, &pid, &e) ||
	    ((found == POD_FOUND_DIED || found == POD_FOUND_ALIVE) && !pod_reap(p->folder, r->c.clock, &e)))
		log_warn(FIELDS(F_STR("pod", str_c(p->name))), "%s", err_msg(&e));
	wait_for(p);
	process_forget(r, p);
	p->pid = 0;
	p->exited = false;
	pods_set_stage(r, p, RUN_ENDED);
	p->status_due = true;
	if (!net_pod_remove(r->c.net, str_c(p->uid), NULL))
		log_warn(FIELDS(F_STR("pod", str_c(p->name))), "its address cannot be released");
	p->has_ip = false;
	r->hosts_due = true;
	if (e.code == ERR_NONE && found != POD_FOUND_NOTHING)
		return;
	if (e.code == ERR_NONE && p->adopted && !p->gone && begin_anew(r, p))
		return;
	status_fail(r, p, "StateLost",
	            arena_printf(&r->round, "the pod's parent process left no state: %.*s",
	                         STR_F(e.code ? str_c(err_msg(&e)) : last_words(r, p))));
	err_release(&e);
}
