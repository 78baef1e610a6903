#include "logs/logline.h"

#include "term/colors.h"

#include <unistd.h>

enum { LINE_MAX_OUT = 64 << 20 };

struct logline_replica {
	char *name;
	size_t n;
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
	for (size_t i = 0; i < p->n; i++)
		free(p->replicas[i].name);
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
	p->replicas[p->n] = (struct logline_replica){ xstrndup(str_text(name), name.n), name.n };
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

	if (p->options.colors)
		buf_printf(&p->out, "\033[%sm%-*s\033[0m \033[%sm|\033[0m ", palette[replica % ARRAY_LEN(palette)],
		           p->width, r->name, is_stderr ? "31" : "2");
	else
		buf_printf(&p->out, "%-*s | ", p->width, r->name);
}

static void put_plain(struct logline_printer *p, const struct logline *l)
{
	size_t replica = replica_of(p, l->replica);

	if (p->open && p->open != replica + 1)
		buf_putc(&p->out, '\n');
	if (p->open != replica + 1) {
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
}

void logline_print(struct logline_printer *p, const struct logline *l)
{
	buf_clear(&p->out);
	if (p->options.json)
		put_json(&p->out, l);
	else
		put_plain(p, l);
	fwrite(buf_str(&p->out).p, 1, p->out.n, p->to);
}

void logline_break(struct logline_printer *p)
{
	if (p->open)
		fputc('\n', p->to);
	p->open = 0;
}
