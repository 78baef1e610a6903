#include "run/run.h"

#include "base/log.h"
#include "run/internal.h"
#include "term/duration.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const msec tick = 100; /* how often logs are looked at */

/* Stopping takes as long as the pods want; being told again makes it shorter. */
static void stop(struct run *r, enum run_end why, int64_t grace)
{
	if (r->end == RUN_GOES_ON) {
		r->end = why;
		r->ended = loop_now(r->loop);
	}
	embedded_stop(r->em, grace);
	loop_timer_set(r->timer, 0);
}

static void on_stop_signal(void *cookie, int signum)
{
	struct run *r = cookie;

	r->stops++;
	if (r->stops == 1) {
		run_say(r, "%s: stopping, which may take %lld s; interrupt again to stop at once",
		        signum == SIGINT ? "interrupted" : "terminated", (long long)r->input.grace);
		stop(r, RUN_INTERRUPTED, -1);
	} else {
		stop(r, RUN_INTERRUPTED, 0);
	}
}

static void on_deadline(void *cookie)
{
	stop(cookie, RUN_TIMED_OUT, -1);
}

static void on_changed(void *cookie, struct str ns, struct str name, struct str uid)
{
	(void)ns, (void)name;
	run_pod_changed(cookie, uid);
}

static void step_run(void *cookie)
{
	struct run *r = cookie;
	msec next = tick;

	if (!run_logs(r))
		next = 0;
	next = MIN(next, run_kills(r));
	if (r->end == RUN_GOES_ON && r->record && (phase_final(r->record->phase) || r->record->phase == PHASE_INVALID))
		stop(r, RUN_FINISHED, -1);
	if (r->end == RUN_GOES_ON && cli_output_unread())
		stop(r, RUN_UNREAD, -1);
	if (r->end != RUN_GOES_ON && embedded_living(r->em) == 0) {
		loop_stop(r->loop);
		return;
	}
	run_show(r);
	loop_timer_set(r->timer, next);
}

static enum exit_code status_of(const struct run *r)
{
	switch (r->end) {
	case RUN_TIMED_OUT:
		return CLI_TIMED_OUT;
	case RUN_INTERRUPTED:
		return CLI_INTERRUPTED;
	case RUN_UNREAD:
	case RUN_BROKEN:
		return CLI_FAILED;
	case RUN_GOES_ON:
	case RUN_FINISHED:
		break;
	}
	if (r->record && r->record->phase == PHASE_INVALID)
		return CLI_INVALID;
	return r->record && r->record->phase == PHASE_SUCCEEDED ? CLI_OK : CLI_FAILED;
}

static bool start_cluster(struct run *r, struct err *e)
{
	struct embedded_config c = { .loop = r->loop,
		                     .kinds = r->kinds,
		                     .folder = r->folder,
		                     .keep_folders = r->options->keep,
		                     .network = r->options->host_network ? NET_HOST : NET_ROOT,
		                     .machine = &r->machine,
		                     .without_gpus = r->options->without_gpus,
		                     .backoff = SECONDS(1),
		                     .changed = on_changed,
		                     .cookie = r };

	given_use(&r->given, &c);
	r->em = embedded_open(&c, e);
	if (!r->em)
		return false;
	if (*embedded_world(r->em)->note && !r->options->quiet)
		run_say(r, "%s", embedded_world(r->em)->note);
	run_command_notes(r);
	if (embedded_world(r->em)->kind == NET_HOST && !run_check_ports(r, e))
		return false;
	if (!run_command_meet(r, e))
		return false;
	run_input_read_end(&r->input);
	return run_submit(r, e);
}

static void set_timers(struct run *r, msec timeout)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	r->timer = loop_timer_new(r->loop, step_run, r);
	r->deadline = loop_timer_new(r->loop, on_deadline, r);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		r->signals[i] = loop_signal_new(r->loop, signals[i], on_stop_signal, r);
	if (timeout)
		loop_timer_set(r->deadline, timeout);
	loop_timer_set(r->timer, 0);
}

static enum exit_code run_all(struct run *r, msec timeout)
{
	struct logline_options logs;
	struct err e = ERR_INIT;
	enum exit_code status;

	if (!logline_options_for(&logs, r->options->color, stdout))
		return cli_usage(r->cli, "--color is auto, always or never, not '%s'", r->options->color);
	if (!run_folder_make(r))
		return r->cli->status;
	r->logs = logline_printer(stdout, &logs);
	r->live = isatty(STDERR_FILENO) && isatty(STDOUT_FILENO) && !r->options->quiet;
	r->loop = loop_new();
	r->began = loop_now(r->loop);
	set_timers(r, timeout);
	if (start_cluster(r, &e)) {
		loop_run(r->loop);
		while (!run_logs(r))
			;
		run_hide(r);
		logline_end(&r->logs, STR_NONE);
		status = status_of(r);
		run_kills_end(r);
	} else {
		r->end = RUN_BROKEN;
		r->message = str_c(err_msg(&e));
		status = e.code == ERR_INVALID ? CLI_INVALID : CLI_FAILED;
	}
	if (r->em)
		run_watch_release(r);
	embedded_close(r->em, true);
	run_folder_end(r);
	run_show_end(r, status);
	err_release(&e);
	loop_timer_free(r->timer);
	loop_timer_free(r->deadline);
	for (size_t i = 0; i < ARRAY_LEN(r->signals); i++)
		loop_signal_free(r->signals[i]);
	loop_free(r->loop);
	logline_release(&r->logs);
	return status;
}

static enum exit_code read_and_run(struct run *r, int n, char **files)
{
	enum exit_code status;
	msec timeout = 0;

	if (r->options->timeout && (!duration_parse(str_c(r->options->timeout), &timeout) || !timeout))
		return cli_usage(r->cli, "--timeout wants a time such as 90s or 5m, not '%s'", r->options->timeout);
	r->kinds = cli_kinds(r->cli);
	if (!r->kinds)
		return r->cli->status;
	machine_find(&r->machine, "", getenv("PATH"));
	if (given_read(&r->given, r->cli, &r->options->volumes, &r->options->rootfs) &&
	    (r->options->command.n_command ? run_read_command(r) : run_read(r, n, files)) && run_kills_parse(r) &&
	    run_check(r))
		status = run_all(r, timeout);
	else
		status = r->cli->status;
	run_input_release(&r->input);
	for (size_t i = 0; i < ARRAY_LEN(r->arenas); i++)
		arena_release(&r->arenas[i]);
	kinds_free(r->kinds);
	return status;
}

enum exit_code run_job(struct cli *cli, const struct run_options *o, int n, char **files)
{
	struct run r = { .cli = cli, .options = o };

	log_setup(LOG_TEXT, LOG_ERROR, &clock_wall);
	return read_and_run(&r, n, files);
}
