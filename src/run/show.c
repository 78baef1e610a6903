/* dljob run: how the job is doing, on standard error. On a terminal the last line shows it all the time; elsewhere
   there is a line for each change. */
#include "run/internal.h"
#include "term/plain.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LINE_TEXT = 1024 };

void run_hide(struct run *r)
{
	logline_break(&r->logs);
	if (!r->drawn)
		return;
	fflush(stdout);
	fputs("\r\033[K", stderr);
	r->drawn = false;
}

void run_say(struct run *r, const char *fmt, ...)
{
	va_list ap;

	run_hide(r);
	fflush(stdout);
	fputs("dljob: ", stderr);
	va_start(ap, fmt);
	plain_vprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* "scheduler 1/1  server 1/1  worker 1/2": how many run or have completed. */
static void roles(const struct run *r, struct buf *out)
{
	const struct record *record = r->record;

	for (size_t i = 0; i < record->n_roles; i++) {
		const struct record_role *role = &record->roles[i];

		if (role->count <= 0)
			continue;
		buf_printf(out, "%s%.*s %d/%d", out->n ? "  " : "", STR_F(role->name),
		           role->now.active + role->now.succeeded, role->count);
		if (role->now.failed)
			buf_printf(out, " (%d failed)", role->now.failed);
	}
}

static int width(void)
{
	struct winsize w;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 80;
}

/* What takes at most COLUMNS, with what stands for characters that are not shown. */
static struct str cut(struct str s, int columns)
{
	size_t n = 0;

	while (n < s.n) {
		size_t len = MAX(str_utf8_len(str_sub(s, n, s.n)), (size_t)1);

		columns -= plain_columns(str_sub(s, n, len));
		if (columns < 0)
			break;
		n += len;
	}
	return str_sub(s, 0, n);
}

static void draw(struct run *r)
{
	struct buf b = BUF_INIT(LINE_TEXT);
	struct buf who = BUF_INIT(LINE_TEXT);
	msec seconds = (loop_now(r->loop) - r->began) / 1000;

	if (r->record) {
		roles(r, &who);
		buf_printf(&b, "%.*s: %s  %.*s", STR_F(r->input.name), phase_name(r->record->phase),
		           STR_F(buf_str(&who)));
		if (r->record->restarts)
			buf_printf(&b, "  restarts %d", r->record->restarts);
		buf_printf(&b, "  %lld:%02lld", (long long)(seconds / 60), (long long)(seconds % 60));
		if (r->record->phase != PHASE_RUNNING && r->record->reason.n)
			buf_printf(&b, "  %.*s", STR_F(r->record->reason));
	} else {
		buf_printf(&b, "%.*s: starting", STR_F(r->input.name));
	}
	if (r->drawn && str_hash(buf_str(&b)) == r->said && logline_due(&r->logs) > loop_now(r->loop)) {
		buf_release(&who);
		buf_release(&b);
		return;
	}
	r->said = str_hash(buf_str(&b));
	run_hide(r);
	logline_draw(&r->logs, loop_now(r->loop));
	/* The state stands below the progress bars, and goes with them. */
	if (r->logs.drawn) {
		fputc('\n', stdout);
		r->logs.drawn++;
	}
	fflush(stdout);
	fputs("\r\033[K\033[2m", stderr);
	plain_put(cut(buf_str(&b), width() - 1), stderr);
	fputs("\033[0m", stderr);
	r->drawn = true;
	buf_release(&who);
	buf_release(&b);
}

static void show_state(struct run *r)
{
	struct buf b = BUF_INIT(LINE_TEXT), who = BUF_INIT(LINE_TEXT);
	uint64_t hash;

	if (!r->record || r->record->phase == PHASE_NONE)
		return;
	buf_printf(&b, "%.*s: %s", STR_F(r->input.name), phase_name(r->record->phase));
	if (r->record->restarts)
		buf_printf(&b, ", restarts %d", r->record->restarts);
	hash = str_hash(buf_str(&b));
	if (r->record->phase == PHASE_RUNNING)
		roles(r, &who);
	else
		buf_put(&who, r->record->reason);
	/* The last word is run_show_end()'s. */
	if (hash != r->said && !phase_final(r->record->phase))
		run_say(r, "%.*s%s%.*s", STR_F(buf_str(&b)), who.n ? ": " : "", STR_F(buf_str(&who)));
	r->said = hash;
	buf_release(&who);
	buf_release(&b);
}

/* Where the companions are, each time that one is somewhere else. */
static void tell_addresses(struct run *r)
{
	for (enum companion_id i = 0; i < COMPANION_COUNT; i++) {
		struct str address = r->record ? r->record->addresses[i] : STR_NONE;

		if (!address.n || r->options->quiet || str_hash(address) == r->addresses[i])
			continue;
		r->addresses[i] = str_hash(address);
		run_say(r, "%s: %.*s", companion_type(i)->name, STR_F(address));
	}
}

void run_show(struct run *r)
{
	if (r->told)
		tell_addresses(r);
	if (r->live)
		draw(r);
	else if (logline_draw(&r->logs, loop_now(r->loop)) != NEVER || r->logs.drawn)
		fflush(stdout);
	if (!r->live && r->told && !r->options->quiet)
		show_state(r);
	r->told = false;
}

void run_show_end(struct run *r, enum exit_code status)
{
	double seconds = (double)(r->ended - r->began) / 1000;
	const struct record *record = r->record;
	const char *phase = record ? phase_name(record->phase) : "Pending";
	struct str reason = record ? record->reason : STR_NONE;

	switch (r->end) {
	case RUN_TIMED_OUT:
		run_say(r, "%.*s: timed out after %.1f s (--timeout %s); it was %s%s%.*s", STR_F(r->input.name),
		        seconds, r->options->timeout, phase, reason.n ? ": " : "", STR_F(reason));
		break;
	case RUN_INTERRUPTED:
		run_say(r, "%.*s: interrupted after %.1f s; it was %s", STR_F(r->input.name), seconds, phase);
		break;
	case RUN_BROKEN:
		run_say(r, "%.*s: %.*s", STR_F(r->input.name), STR_F(r->message));
		break;
	case RUN_UNREAD:
		break;
	case RUN_GOES_ON:
	case RUN_FINISHED:
		if (r->options->quiet && status == CLI_OK)
			break;
		if (record && record->restarts)
			run_say(r, "%.*s: %s after %.1f s and %d restart%s: %.*s", STR_F(r->input.name), phase, seconds,
			        record->restarts, record->restarts == 1 ? "" : "s", STR_F(reason));
		else
			run_say(r, "%.*s: %s after %.1f s: %.*s", STR_F(r->input.name), phase, seconds, STR_F(reason));
		break;
	}
}
