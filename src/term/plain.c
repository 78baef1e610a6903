#include "term/plain.h"

enum { ESCAPED = 16 };

/* Takes one character off *S: as it is, or what stands for it, in BUF. */
static struct str next_shown(struct str *s, bool json, char buf[static ESCAPED])
{
	size_t n = str_utf8_len(*s);
	struct str c = str_sub(*s, 0, MAX(n, (size_t)1));
	uint32_t code = n ? str_utf8_code(c) : (unsigned char)c.p[0];
	int len;

	*s = str_sub(*s, c.n, s->n);
	if (n && (!str_utf8_is_hidden(code) || (json && code == '\n')))
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
