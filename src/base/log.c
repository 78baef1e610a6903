#include "base/log.h"
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

/* A text longer than this is cut, so that no line grows without end. */
enum { LONGEST_TEXT = 8192, LONGEST_LINE = 1 << 20 };

static const struct {
	const char *text, *json;
} levels[] = {
	[LOG_DEBUG] = { "DEBUG", "debug" },
	[LOG_INFO] = { "INFO ", "info" },
	[LOG_WARN] = { "WARN ", "warn" },
	[LOG_ERROR] = { "ERROR", "error" },
};

static struct {
	enum log_format format;
	enum log_level least;
	const struct clock *clock;
	FILE *to;
} setup = { LOG_TEXT, LOG_INFO, &clock_wall, NULL };

void log_setup(enum log_format format, enum log_level least, const struct clock *clock)
{
	setup.format = format;
	setup.least = least;
	setup.clock = clock ? clock : &clock_wall;
}

void log_to(FILE *f)
{
	setup.to = f;
}

/* S, or the most of it that is taken, never half of a character. */
static struct str cut(struct str s)
{
	size_t n = LONGEST_TEXT;

	if (s.n <= n)
		return s;
	while (n > LONGEST_TEXT - 4 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return str_sub(s, 0, n);
}

/* May it stand as it is in a line of key=value pairs? */
static bool is_bare(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == ' ' || s.p[i] == '"' || s.p[i] == '=' || s.p[i] == '\\')
			return false;
	for (struct str rest = s; rest.n; rest = str_sub(rest, str_utf8_len(rest), rest.n))
		if (str_utf8_len(rest) == 0 || str_utf8_is_hidden(str_utf8_code(rest)))
			return false;
	return s.n > 0;
}

/* The message in the text form: without quotes, but on one line and without terminal codes. */
static void put_message(struct buf *line, struct str s)
{
	for (size_t n; s.n; s = str_sub(s, n, s.n)) {
		uint32_t code;

		n = str_utf8_len(s);
		if (n == 0) {
			buf_put(line, STR("\xef\xbf\xbd"));
			n = 1;
			continue;
		}
		code = str_utf8_code(s);
		if (code == '\n')
			buf_put(line, STR("\\n"));
		else if (str_utf8_is_hidden(code))
			buf_printf(line, code > 0xff ? "\\u%04x" : "\\x%02x", (unsigned)code);
		else
			buf_put(line, str_sub(s, 0, n));
	}
}

/* A string of JSON in which a terminal finds nothing to do either: what JSON lets stand is escaped as JSON does. */
static void put_quoted(struct buf *line, struct str s)
{
	struct buf text = BUF_INIT(LONGEST_LINE);
	size_t n;

	buf_json_str(&text, s);
	for (s = buf_str(&text); s.n; s = str_sub(s, n, s.n)) {
		uint32_t code = str_utf8_code(s);

		n = str_utf8_len(s);
		if (str_utf8_is_hidden(code))
			buf_printf(line, "\\u%04x", (unsigned)code);
		else
			buf_put(line, str_sub(s, 0, n));
	}
	buf_release(&text);
}

static void put_text_line(struct buf *line, enum log_level level, struct str msg, const struct log_field *fields,
                          size_t n)
{
	char when[TIME_TEXT];

	buf_printf(line, "%s %s ", time_format(clock_now(setup.clock), when), levels[level].text);
	put_message(line, msg);
	for (size_t i = 0; i < n; i++) {
		buf_printf(line, " %s=", fields[i].key);
		if (fields[i].is_number)
			buf_printf(line, "%lld", (long long)fields[i].number);
		else if (is_bare(fields[i].text))
			buf_put(line, cut(fields[i].text));
		else
			put_quoted(line, cut(fields[i].text));
	}
}

static void put_json_line(struct buf *line, enum log_level level, struct str msg, const struct log_field *fields,
                          size_t n)
{
	msec now = clock_now(setup.clock);
	char when[TIME_TEXT];
	int ms = (int)(now % 1000);

	time_format(now, when);
	/* Without its Z, which follows the milliseconds. */
	buf_printf(line, "{\"time\":\"%.*s.%03dZ\",\"level\":\"%s\",\"msg\":", (int)strlen(when) - 1, when,
	           ms < 0 ? ms + 1000 : ms, levels[level].json);
	put_quoted(line, msg);
	for (size_t i = 0; i < n; i++) {
		buf_putc(line, ',');
		buf_json_str(line, str_c(fields[i].key));
		buf_putc(line, ':');
		if (fields[i].is_number)
			buf_printf(line, "%lld", (long long)fields[i].number);
		else
			put_quoted(line, cut(fields[i].text));
	}
	buf_putc(line, '}');
}

/* One write for a line, so that lines of several processes do not mix. */
static void emit(struct str line)
{
	FILE *to = setup.to ? setup.to : stderr;
	int fd = fileno(to);

	if (fd < 0) {
		fwrite(line.p, 1, line.n, to);
		fflush(to);
		return;
	}
	fflush(to);
	while (line.n) {
		ssize_t n = write(fd, line.p, line.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* Whom to tell? */
		line = str_sub(line, (size_t)n, line.n);
	}
}

void log_write(enum log_level level, const struct log_field *fields, size_t n, const char *fmt, ...)
{
	struct buf line = BUF_INIT(LONGEST_LINE);
	char msg[LONGEST_TEXT];
	int saved = errno;
	va_list ap;
	struct str text;

	if (level < setup.least)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	text = str_c(msg);
	/* Escapes make a text six times as long at most: this many fields fit whatever they hold. */
	n = MIN(n, (size_t)LONGEST_LINE / (LONGEST_TEXT * 7) - 1);
	if (setup.format == LOG_JSON)
		put_json_line(&line, level, text, fields, n);
	else
		put_text_line(&line, level, text, fields, n);
	buf_putc(&line, '\n');
	emit(buf_str(&line));
	buf_release(&line);
	errno = saved;
}
