#include "base/buf.h"

#include <stdarg.h>

static bool room(struct buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 64;

	if (b->overflow || more > b->max - b->n) {
		b->overflow = true;
		return false;
	}
	if (b->n + more + 1 <= b->cap)
		return true;
	while (cap < b->n + more + 1)
		cap *= 2;
	b->p = xrealloc(b->p, cap);
	b->cap = cap;
	return true;
}

void buf_put(struct buf *b, struct str s)
{
	if (!room(b, s.n))
		return;
	if (s.n)
		memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
	b->p[b->n] = 0;
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, (struct str){ &c, 1 });
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	char small[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	ASSERT(n >= 0);
	if ((size_t)n < sizeof(small)) {
		buf_put(b, (struct str){ small, (size_t)n });
		return;
	}
	if (!room(b, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

void buf_utf8(struct buf *b, struct str s)
{
	while (s.n) {
		size_t n = str_utf8_len(s);

		buf_put(b, n ? str_sub(s, 0, n) : STR("\xef\xbf\xbd"));
		s = str_sub(s, n ? n : 1, s.n);
	}
}

/* How many bytes at the beginning of S stand for themselves in JSON. */
static size_t plain(struct str s)
{
	size_t n = 0;

	while (n < s.n && (unsigned char)s.p[n] >= 0x20 && (unsigned char)s.p[n] < 0x80 && s.p[n] != '"' &&
	       s.p[n] != '\\')
		n++;
	return n;
}

void buf_json_str(struct buf *b, struct str s)
{
	buf_putc(b, '"');
	while (s.n) {
		unsigned char c = (unsigned char)s.p[0];
		size_t n = plain(s);

		if (n) {
			buf_put(b, str_sub(s, 0, n));
			s = str_sub(s, n, s.n);
			continue;
		}
		n = str_utf8_len(s);
		if (n == 0) {
			buf_put(b, STR("\xef\xbf\xbd"));
			n = 1;
		} else if (c == '"' || c == '\\') {
			buf_putc(b, '\\');
			buf_putc(b, (char)c);
		} else if (c == '\n') {
			buf_put(b, STR("\\n"));
		} else if (c == '\t') {
			buf_put(b, STR("\\t"));
		} else if (c < 0x20) {
			buf_printf(b, "\\u%04x", c);
		} else {
			buf_put(b, str_sub(s, 0, n));
		}
		s = str_sub(s, n, s.n);
	}
	buf_putc(b, '"');
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void buf_base64_encode(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i += 3) {
		size_t n = MIN(s.n - i, (size_t)3);
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < n ? (unsigned char)s.p[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buf_putc(b, k <= n ? alphabet[bits >> (18 - 6 * k) & 63] : '=');
	}
}

bool buf_base64(struct buf *b, struct str s)
{
	uint32_t bits = 0;
	size_t n = 0, pads = 0;

	for (size_t i = 0; i < s.n; i++) {
		const char *hit = s.p[i] ? strchr(alphabet, s.p[i]) : NULL;

		if (s.p[i] == '\n' || s.p[i] == '\r')
			continue;
		if (s.p[i] == '=' && n % 4 >= 2)
			pads++;
		else if (!hit || pads)
			return false;
		bits = bits << 6 | (hit ? (uint32_t)(hit - alphabet) : 0);
		if (++n % 4)
			continue;
		buf_putc(b, (char)(bits >> 16));
		if (pads < 2)
			buf_putc(b, (char)(bits >> 8));
		if (pads < 1)
			buf_putc(b, (char)bits);
	}
	return n % 4 == 0;
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->overflow = false;
	if (b->p)
		b->p[0] = 0;
}

void buf_release(struct buf *b)
{
	free(b->p);
	*b = (struct buf)BUF_INIT(b->max);
}
