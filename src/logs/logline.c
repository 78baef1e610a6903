#include "logs/logline.h"

#include "term/colors.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { LINE_MAX_OUT = 64 << 20, BAR_MAX = 16 << 10, COLUMNS = 80, ROWS = 24 };

static const msec bars_pause = 500;

struct logline_replica {
	char *name;
	size_t n;
	struct buf bar; /* of a line that redraws itself: what has come, on a terminal its last state */
	bool bar_err;   /* it is one of standard error */
};

/* Legible on dark and on light ground, and no red: that is for errors. */
static const char *const palette[] = { "36", "33", "32", "35", "34", "96", "93", "92", "95", "94" };

bool logline_options_for(struct logline_options *ret, const char *when, FILE *to)
{
	*ret = (struct logline_options){ .terminal = isatty(fileno(to)) };
	if (!when || !strcmp(when, "auto"))
		ret->colors = colors_wanted(to);
	else if (!strcmp(when, "always"))
		ret->colors = true;
	else
		return !strcmp(when, "never");
	return true;
}

struct logline_printer logline_printer(FILE *to, const struct logline_options *o)
{
	return (struct logline_printer){ .options = *o, .to = to, .out = BUF_INIT(LINE_MAX_OUT) };
}

void logline_release(struct logline_printer *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->replicas[i].name);
		buf_release(&p->replicas[i].bar);
	}
	free(p->replicas);
	buf_release(&p->out);
	p->replicas = NULL;
	p->n = 0;
}

static size_t replica_of(struct logline_printer *p, struct str name)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_eq(name, (struct str){ p->replicas[i].name, p->replicas[i].n }))
			return i;
	p->replicas = xrealloc(p->replicas, (p->n + 1) * sizeof(*p->replicas));
	p->replicas[p->n] =
		(struct logline_replica){ xstrndup(str_text(name), name.n), name.n, BUF_INIT(BAR_MAX), false };
	p->width = MAX(p->width, (int)name.n);
	return p->n++;
}

void logline_expect(struct logline_printer *p, struct str replica)
{
	replica_of(p, replica);
}

/* The length of the colour sequence (ESC [ numbers m) that S begins with; 0: it begins with none. */
static size_t sgr_len(struct str s)
{
	size_t i = 2;

	if (s.n < 3 || s.p[0] != '\033' || s.p[1] != '[')
		return 0;
	while (i < s.n && i < 64 && ((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == ';' || s.p[i] == ':'))
		i++;
	return i < s.n && s.p[i] == 'm' ? i + 1 : 0;
}

/* What a terminal would show of "10%\r20%\r30%": the last. */
static struct str after_returns(struct str s)
{
	while (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	for (size_t i = s.n; i > 0; i--)
		if (s.p[i - 1] == '\r')
			return str_sub(s, i, s.n);
	return s;
}

static void put_visible(struct buf *out, struct str c)
{
	unsigned char u = (unsigned char)c.p[0];

	if (c.n == 1 && u < 0x20 && u != '\t')
		buf_printf(out, "^%c", u + '@');
	else if (u == 0x7f)
		buf_put(out, STR("^?"));
	else if (c.n == 2 && u == 0xc2 && (unsigned char)c.p[1] < 0xa0)
		buf_printf(out, "\\x%02x", (unsigned char)c.p[1]);
	else
		buf_put(out, c);
}

bool logline_harmless(struct buf *out, struct str s, bool colors)
{
	bool colored = false;

	for (s = after_returns(s); s.n;) {
		size_t n = sgr_len(s);

		if (n) {
			if (colors)
				buf_put(out, str_sub(s, 0, n));
			colored = colors;
		} else {
			n = str_utf8_len(s);
			if (n)
				put_visible(out, str_sub(s, 0, n));
			else
				buf_put(out, STR("\xef\xbf\xbd"));
			n = MAX(n, (size_t)1);
		}
		s = str_sub(s, n, s.n);
	}
	return colored;
}

static void put_json(struct buf *out, const struct logline *l)
{
	const struct {
		const char *key;
		struct str value;
	} texts[] = {
		{ "{\"time\":", l->time },           { ",\"role\":", l->role }, { ",\"pod\":", l->pod },
		{ ",\"container\":", l->container }, { ",\"text\":", l->text },
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (i == 2)
			buf_printf(out, ",\"index\":%d", l->index);
		if (i == 2 && l->archived) {
			buf_printf(out, ",\"generation\":%lld", (long long)l->generation);
			continue;
		}
		buf_put(out, str_c(texts[i].key));
		buf_json_str(out, texts[i].value);
	}
	buf_put(out, l->part ? STR(",\"part\":true}\n") : STR("}\n"));
}

static void put_prefix(struct logline_printer *p, size_t replica, bool is_stderr)
{
	const struct logline_replica *r = &p->replicas[replica];

	/* Names come from labels of pods, which anybody may have written. */
	if (p->options.colors)
		buf_printf(&p->out, "\033[%sm", palette[replica % ARRAY_LEN(palette)]);
	logline_harmless(&p->out, str_c(r->name), false);
	buf_printf(&p->out, "%*s", MAX(p->width - (int)strlen(r->name), 0), "");
	if (p->options.colors)
		buf_printf(&p->out, "\033[0m \033[%sm|\033[0m ", is_stderr ? "31" : "2");
	else
		buf_put(&p->out, STR(" | "));
}

static void put_plain(struct logline_printer *p, const struct logline *l)
{
	size_t replica = replica_of(p, l->replica);

	bool goes_on = p->open == replica + 1 && p->open_err == l->is_stderr;

	if (p->open && !goes_on)
		buf_putc(&p->out, '\n');
	if (!goes_on) {
		if (!p->options.plain)
			put_prefix(p, replica, l->is_stderr);
		if (p->options.timestamps && l->time.n)
			buf_printf(&p->out, "%.*s ", STR_F(l->time));
	}
	if (!p->options.terminal)
		buf_put(&p->out, l->text);
	else if (logline_harmless(&p->out, l->text, p->options.colors))
		buf_put(&p->out, STR("\033[0m"));
	if (!l->part)
		buf_putc(&p->out, '\n');
	p->open = l->part ? replica + 1 : 0;
	p->open_err = l->is_stderr;
}

/* Progress bars */

/* Of what a bar has shown so far only its last state is kept, and the return that the next one begins with. */
static void keep_last_state(struct buf *bar)
{
	struct str all = buf_str(bar), last;
	bool returned = all.n && all.p[all.n - 1] == '\r';
	size_t n;

	if (!all.n)
		return;
	last = after_returns(all);
	n = last.n;
	memmove(bar->p, str_text(last), n);
	if (returned)
		bar->p[n++] = '\r';
	bar->n = n;
	bar->p[n] = '\0';
}

/* True: the part is shown otherwise, or later. */
static bool take_bar(struct logline_printer *p, const struct logline *l)
{
	size_t at = replica_of(p, l->replica);
	struct logline_replica *r = &p->replicas[at];
	bool redraws = l->text.n && memchr(l->text.p, '\r', l->text.n);

	if (!l->part || (r->bar.n && r->bar_err != l->is_stderr) || (!redraws && !r->bar.n) ||
	    (!p->options.terminal && p->n == 1))
		return false;
	if (r->bar.n + l->text.n > BAR_MAX && p->options.terminal)
		keep_last_state(&r->bar);
	if (r->bar.n + l->text.n > BAR_MAX)
		return false;
	p->bars += !r->bar.n;
	r->bar_err = l->is_stderr;
	buf_put(&r->bar, l->text);
	if (p->options.terminal)
		keep_last_state(&r->bar);
	p->redraw = true;
	return true;
}

/* S without escape sequences (ESC [ … and a letter). */
static void put_bare(struct buf *out, struct str s)
{
	while (s.n) {
		size_t n = 0;

		if (s.n > 1 && s.p[0] == '\033' && s.p[1] == '[')
			for (n = 2; n < s.n && (s.p[n] < '@' || s.p[n] > '~');)
				n++;
		if (n < s.n && !n)
			buf_putc(out, s.p[0]);
		s = str_sub(s, n + 1, s.n);
	}
}

/* What fits into a row; those from U+3000 on are reckoned to be two columns wide. */
static struct str fit(struct str s, int room)
{
	size_t n = 0;

	while (n < s.n) {
		size_t len = str_utf8_len(str_sub(s, n, s.n));

		room -= (unsigned char)s.p[n] >= 0xe3 ? 2 : 1;
		if (room < 0)
			break;
		n += len ? len : 1;
	}
	return str_sub(s, 0, n);
}

/* With what was kept of its line before. */
static void put_with_bar(struct logline_printer *p, const struct logline *l)
{
	size_t at = replica_of(p, l->replica);
	struct logline_replica *r = &p->replicas[at];
	struct logline all = *l;
	struct buf text = BUF_INIT(LINE_MAX_OUT);

	if (p->options.terminal) {
		put_bare(&text, buf_str(&r->bar));
		put_bare(&text, l->text);
	} else {
		buf_put(&text, buf_str(&r->bar));
		buf_put(&text, l->text);
	}
	all.text = buf_str(&text);
	buf_clear(&r->bar);
	p->bars--;
	put_plain(p, &all);
	buf_release(&text);
}

static void erase_bars(struct logline_printer *p)
{
	if (p->drawn > 1)
		fprintf(p->to, "\r\033[%dA\033[J", p->drawn - 1);
	else if (p->drawn)
		fputs("\r\033[J", p->to);
	p->redraw = p->redraw || p->drawn;
	p->drawn = 0;
}

static struct winsize size_of(FILE *to)
{
	struct winsize w = { 0 };

	if (ioctl(fileno(to), TIOCGWINSZ, &w) != 0 || !w.ws_col || !w.ws_row)
		w = (struct winsize){ .ws_col = COLUMNS, .ws_row = ROWS };
	return w;
}

static void put_bar(struct logline_printer *p, size_t replica, int width)
{
	struct buf bare = BUF_INIT(BAR_MAX), text = BUF_INIT(BAR_MAX * 8);
	int front = p->options.plain ? 0 : p->width + 3;

	if (p->drawn++)
		buf_putc(&p->out, '\n');
	if (!p->options.plain)
		put_prefix(p, replica, false);
	put_bare(&bare, buf_str(&p->replicas[replica].bar));
	logline_harmless(&text, buf_str(&bare), false);
	buf_put(&p->out, fit(buf_str(&text), MAX(width - 1 - front, 0)));
	buf_release(&bare);
	buf_release(&text);
}

msec logline_due(const struct logline_printer *p)
{
	if (!p->options.terminal || p->options.json || !p->redraw || (!p->bars && !p->drawn))
		return NEVER;
	return p->drawn && p->bars > 1 ? p->drawn_at + bars_pause : 0;
}

msec logline_draw(struct logline_printer *p, msec now)
{
	struct winsize w;

	if (logline_due(p) > now)
		return logline_due(p);
	logline_break(p);
	w = size_of(p->to);
	buf_clear(&p->out);
	for (size_t i = 0; i < p->n && p->drawn < MAX(w.ws_row / 2, 1); i++)
		if (p->replicas[i].bar.n)
			put_bar(p, i, w.ws_col);
	fwrite(buf_str(&p->out).p, 1, p->out.n, p->to);
	p->redraw = false;
	p->drawn_at = now;
	return NEVER;
}

void logline_print(struct logline_printer *p, const struct logline *l)
{
	size_t at = replica_of(p, l->replica);
	bool bar;

	buf_clear(&p->out);
	if (p->options.json) {
		put_json(&p->out, l);
	} else {
		if (take_bar(p, l))
			return;
		bar = p->replicas[at].bar.n && p->replicas[at].bar_err == l->is_stderr;
		erase_bars(p);
		if (bar)
			put_with_bar(p, l);
		else
			put_plain(p, l);
	}
	fwrite(buf_str(&p->out).p, 1, p->out.n, p->to);
}

void logline_break(struct logline_printer *p)
{
	erase_bars(p);
	if (p->open)
		fputc('\n', p->to);
	p->open = 0;
}

void logline_end(struct logline_printer *p, struct str replica)
{
	for (size_t i = 0; i < p->n; i++) {
		struct str name = { p->replicas[i].name, p->replicas[i].n };

		if (p->replicas[i].bar.n && (str_empty(replica) || str_eq(replica, name)))
			logline_print(p, &(struct logline){ .replica = name, .is_stderr = p->replicas[i].bar_err });
	}
}
