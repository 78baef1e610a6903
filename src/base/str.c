#include "base/str.h"

#include <ctype.h>

struct str str_c(const char *c)
{
	return c ? (struct str){ c, strlen(c) } : STR_NONE;
}

bool str_eqc(struct str a, const char *c)
{
	return str_eq(a, str_c(c));
}

static unsigned char lower(char c)
{
	return (unsigned char)tolower((unsigned char)c);
}

bool str_eq_nocase(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

int str_cmp(struct str a, struct str b)
{
	size_t n = MIN(a.n, b.n);
	int c = n ? memcmp(a.p, b.p, n) : 0;

	if (c)
		return c;
	return a.n < b.n ? -1 : a.n > b.n;
}

bool str_has_prefix(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_sub(s, 0, prefix.n), prefix);
}

bool str_has_suffix(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_sub(s, s.n - suffix.n, suffix.n), suffix);
}

struct str str_dup(struct str s)
{
	return (struct str){ xstrndup(str_text(s), s.n), s.n };
}

void str_free(struct str s)
{
	free((char *)(uintptr_t)s.p);
}

struct str str_sub(struct str s, size_t from, size_t n)
{
	from = MIN(from, s.n);
	n = MIN(n, s.n - from);
	return (struct str){ s.p ? s.p + from : NULL, n };
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.n && blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool str_next(struct str *rest, char sep, struct str *part)
{
	/* Where *REST points after a separator at the very end: one empty part is still to come, which
	   tells "a," from "a". */
	static const char last[] = "";
	const char *hit;

	if (rest->n == 0 && rest->p != last)
		return false;
	hit = rest->n ? memchr(rest->p, sep, rest->n) : NULL;
	if (!hit) {
		*part = *rest;
		*rest = STR_NONE;
		return true;
	}
	*part = (struct str){ rest->p, (size_t)(hit - rest->p) };
	*rest = str_sub(*rest, part->n + 1, rest->n);
	if (rest->n == 0)
		rest->p = last;
	return true;
}

bool str_int(struct str s, int64_t *ret)
{
	bool neg = s.n && s.p[0] == '-';
	uint64_t limit = (uint64_t)INT64_MAX + neg, v = 0;

	if (neg)
		s = str_sub(s, 1, s.n);
	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned d = (unsigned)s.p[i] - '0';

		if (d > 9 || v > (limit - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*ret = neg ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

size_t str_utf8_len(struct str s)
{
	unsigned char c = s.n ? (unsigned char)s.p[0] : 0, second = s.n > 1 ? (unsigned char)s.p[1] : 0;
	size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;

	if (n == 0 || n > s.n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)s.p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what lies past U+10FFFF. */
	if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) ||
	    (c == 0xf4 && second > 0x8f))
		return 0;
	return n;
}

uint32_t str_utf8_code(struct str s)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	size_t n = str_utf8_len(s);
	uint32_t code;

	ASSERT(n);
	code = (unsigned char)s.p[0] & first[n];
	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)s.p[i] & 0x3f);
	return code;
}

bool str_utf8_is_hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || c == 0x2028 ||
	       c == 0x2029 || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

bool str_is_utf8(struct str s)
{
	while (s.n) {
		size_t n = str_utf8_len(s);

		if (n == 0)
			return false;
		s = str_sub(s, n, s.n);
	}
	return true;
}

uint64_t str_hash(struct str s)
{
	/* FNV-1a with a final mix, so that the low bits are good for masks. */
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	return h;
}

bool str_is_dns_label(struct str s, bool letter_first)
{
	if (s.n == 0 || s.n > 63 || s.p[0] == '-' || s.p[s.n - 1] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-')
			return false;
	}
	return !letter_first || (s.p[0] >= 'a' && s.p[0] <= 'z');
}

unsigned str_distance(struct str a, struct str b, unsigned max)
{
	enum { LONGEST = 64 };
	unsigned d[3][LONGEST + 1];
	size_t gap = a.n > b.n ? a.n - b.n : b.n - a.n;

	if (gap > max || a.n > LONGEST || b.n > LONGEST)
		return max + 1;
	for (size_t j = 0; j <= b.n; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a.n; i++) {
		unsigned *now = d[i % 3], *one = d[(i + 2) % 3], *two = d[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= b.n; j++) {
			unsigned diff = lower(a.p[i - 1]) != lower(b.p[j - 1]);
			unsigned best = one[j - 1] + diff;

			best = MIN(best, one[j] + 1);
			best = MIN(best, now[j - 1] + 1);
			if (i > 1 && j > 1 && lower(a.p[i - 1]) == lower(b.p[j - 2]) &&
			    lower(a.p[i - 2]) == lower(b.p[j - 1]))
				best = MIN(best, two[j - 2] + 1);
			now[j] = best;
		}
	}
	return MIN(d[a.n % 3][b.n], max + 1);
}
