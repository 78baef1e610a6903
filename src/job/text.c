/* What users wrote, in messages; and what they may have meant. */
#include "job/decode.h"

enum { SHOWN_MAX = 40, NEAR = 2 };

struct str text_shown(struct str s, struct arena *a)
{
	size_t n = MIN(s.n, (size_t)SHOWN_MAX);
	char *copy;

	/* Not in the middle of a character. */
	while (n < s.n && n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	copy = arena_raw(a, n + 1);
	for (size_t i = 0; i < n; i++)
		copy[i] = (unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f ? '?' : s.p[i];
	copy[n] = 0;
	if (n == s.n)
		return (struct str){ copy, n };
	return arena_printf(a, "%s…", copy);
}

struct str text_nearest(struct str s, const struct str *candidates, size_t n)
{
	struct str best = STR_NONE;
	unsigned least = NEAR + 1;

	for (size_t i = 0; i < n; i++) {
		/* In a short word two edits are another word. */
		unsigned most = candidates[i].n / 2 < NEAR ? (unsigned)(candidates[i].n / 2) : NEAR;
		unsigned d = str_distance(s, candidates[i], most);

		if (d <= most && d < least) {
			least = d;
			best = candidates[i];
		}
	}
	return best;
}

struct str text_list(const struct str *v, size_t n, struct arena *a)
{
	struct str list = n ? v[0] : STR_NONE;

	for (size_t i = 1; i < n; i++)
		list = arena_printf(a, "%.*s%s%.*s", STR_F(list), i + 1 < n ? ", " : " or ", STR_F(v[i]));
	return list;
}

struct str text_hint(struct str s, const char *prefix, const struct str *candidates, size_t n, struct arena *a)
{
	struct str near = text_nearest(s, candidates, n);

	if (near.n)
		return arena_printf(a, "; did you mean \"%.*s\"?", STR_F(near));
	if (!prefix)
		return STR_NONE;
	return arena_printf(a, "; %s %.*s", prefix, STR_F(text_list(candidates, n, a)));
}
