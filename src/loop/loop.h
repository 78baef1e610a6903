/* The event loop: timers, file descriptors, signals, child processes, file changes. The only folder
   that knows libuv. One thread; callbacks only record, work happens in whoever they wake.
   Everything that is opened here has its _free, which may be called inside any callback, its own too;
   after it no callback comes any more. */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include "base/clock.h"
#include "base/err.h"

struct loop;

/* From here on the process ignores SIGPIPE: a broken connection is an error, not an end. Children get
   the default again. */
struct loop *loop_new(void);
/* Everything that was opened on it must have been freed. */
void loop_free(struct loop *l);
/* Runs until loop_stop(), or until nothing is waited for any more: no timer that is set, no descriptor
   with events, no signal, process or watch. */
void loop_run(struct loop *l);
/* Called before loop_run() it holds for that run. */
void loop_stop(struct loop *l);
/* Milliseconds that never go back and do not stop while the machine sleeps (CLOCK_BOOTTIME): for
   time-outs. The wall clock (base/clock.h) is for what is written down. */
msec loop_now(const struct loop *l);

struct loop_timer;
typedef void (*loop_timer_fn)(void *cookie);
struct loop_timer *loop_timer_new(struct loop *l, loop_timer_fn fn, void *cookie);
/* Fires once after DELAY (0 or less: in the loop's next round), never earlier; set again it moves. Equal
   times fire in the order in which they were set. Between two rounds descriptors and signals have their turn: timers
   that set themselves again for ever, however long they run, starve nobody. A sleep of the machine does not count:
   whoever minds compares with loop_now(). */
void loop_timer_set(struct loop_timer *t, msec delay);
void loop_timer_stop(struct loop_timer *t);
/* NULL is ok. */
void loop_timer_free(struct loop_timer *t);

enum { LOOP_READ = 1, LOOP_WRITE = 2 };
struct loop_fd;
/* An error of the descriptor comes as both events. */
typedef void (*loop_fd_fn)(void *cookie, int events);
/* Does not own FD, which must stay open until loop_fd_free(), and sets it non-blocking. It waits for
   nothing until loop_fd_set(). NULL if FD cannot be waited for (a plain file). */
struct loop_fd *loop_fd_new(struct loop *l, int fd, loop_fd_fn fn, void *cookie);
/* Level-triggered. 0: nothing. */
void loop_fd_set(struct loop_fd *f, int events);
void loop_fd_free(struct loop_fd *f);

struct loop_signal;
typedef void (*loop_signal_fn)(void *cookie, int signum);
struct loop_signal *loop_signal_new(struct loop *l, int signum, loop_signal_fn fn, void *cookie);
void loop_signal_free(struct loop_signal *s);

/* A program by its argv (found in PATH), never by a shell. Its standard output is collected up to
   OUTPUT_MAX bytes, its standard error too (for messages), its standard input is empty. It gets a process
   group of its own, which is killed after TIMEOUT. */
struct loop_process;
struct loop_process_result {
	int exit_status;     /* -1: could not be started, was killed, or timed out */
	struct str out, err; /* valid inside the callback only */
	bool timed_out, truncated;
	const char *problem; /* why it could not be started; NULL otherwise */
};
typedef void (*loop_process_fn)(void *cookie, const struct loop_process_result *r);
struct loop_process_spec {
	const char *const *argv;
	const char *const *env; /* additions, "NAME=value"; NULL-terminated; may be NULL */
	msec timeout;           /* 0: none */
	size_t output_max;
};
/* FN is called once, later, also if the program cannot be started. Descendants that still run when the
   program has ended are left alone and not waited for. */
struct loop_process *loop_process_start(struct loop *l, const struct loop_process_spec *spec, loop_process_fn fn,
                                        void *cookie);
/* Kills it if it still runs; the callback does not come any more. To be called after the callback too. */
void loop_process_free(struct loop_process *p);

/* Something in this folder or file was changed, added or removed. Several changes may come as one, and
   now and then one comes that was none. The path need not exist, its parent must; either may vanish, come
   back, or be a symlink that is swapped, as Kubernetes does with mounted ConfigMaps. */
struct loop_watch;
typedef void (*loop_watch_fn)(void *cookie);
struct loop_watch *loop_watch_new(struct loop *l, const char *path, loop_watch_fn fn, void *cookie, struct err *e);
void loop_watch_free(struct loop_watch *w);

#endif
