#include "term/plain.h"

enum { ESCAPED = 16 };

/* The character that C begins with, of N bytes. */
static uint32_t code_of(const char *c, size_t n)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = (unsigned char)c[0] & first[n];

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)c[i] & 0x3f);
	return code;
}

static bool is_hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || c == 0x2028 ||
	       c == 0x2029 || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Takes one character off *S: as it is, or what stands for it, in BUF. */
static struct str next_shown(struct str *s, bool json, char buf[static ESCAPED])
{
	size_t n = str_utf8_len(*s);
	struct str c = str_sub(*s, 0, MAX(n, (size_t)1));
	uint32_t code = n ? code_of(c.p, n) : (unsigned char)c.p[0];
	int len;

	*s = str_sub(*s, c.n, s->n);
	if (n && (!is_hidden(code) || (json && code == '\n')))
		return c;
	if (!json && code == '\n')
		return STR("\\n");
	if (!json && code == '\t')
		return STR("\\t");
	len = snprintf(buf, ESCAPED, json || code > 0xff ? "\\u%04x" : "\\x%02x", (unsigned)code);
	return (struct str){ buf, (size_t)len };
}

static void put(struct str s, bool json, FILE *to)
{
	char buf[ESCAPED];
	struct str run = { s.p, 0 }; /* what can be written as it is */

	while (s.n) {
		struct str at = s, shown = next_shown(&s, json, buf);

		if (shown.p == at.p) {
			run.n += shown.n;
			continue;
		}
		fwrite(str_text(run), 1, run.n, to);
		fwrite(shown.p, 1, shown.n, to);
		run = (struct str){ s.p, 0 };
	}
	fwrite(str_text(run), 1, run.n, to);
}

void plain_put(struct str s, FILE *to)
{
	put(s, false, to);
}

void plain_put_json(struct str s, FILE *to)
{
	put(s, true, to);
}

int plain_columns(struct str s)
{
	char buf[ESCAPED];
	int n = 0;

	while (s.n) {
		struct str shown = next_shown(&s, false, buf);

		n += shown.p == buf || shown.p[0] == '\\' ? (int)shown.n : 1;
	}
	return n;
}

void plain_vprintf(FILE *to, const char *fmt, va_list ap)
{
	bool line = str_has_suffix(str_c(fmt), STR("\n"));
	char *text = NULL;
	int n = vasprintf(&text, fmt, ap);

	if (n < 0)
		return;
	plain_put((struct str){ text, (size_t)n - line }, to);
	if (line)
		fputc('\n', to);
	free(text);
}

void plain_printf(FILE *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	plain_vprintf(to, fmt, ap);
	va_end(ap);
}
