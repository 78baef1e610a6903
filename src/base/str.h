/* Strings are slices by value: a pointer and a length, not owned, not terminated. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/util.h"

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR_INIT(literal)                                                                                              \
	{                                                                                                              \
		"" literal, sizeof(literal) - 1                                                                        \
	}
#define STR_NONE ((struct str){ NULL, 0 })
/* For printf: "%.*s", STR_F(s) */
#define STR_F(s) (int)(s).n, str_text(s)

/* The bytes, never NULL. */
static inline const char *str_text(struct str s)
{
	return s.p ? s.p : "";
}

/* The slice of a C string; NULL gives the empty slice. */
struct str str_c(const char *c);

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_empty(struct str s)
{
	return s.n == 0;
}

bool str_eqc(struct str a, const char *c);
bool str_eq_nocase(struct str a, struct str b);
/* <0, 0, >0 by bytes, the shorter first. */
int str_cmp(struct str a, struct str b);
bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);
/* A copy that is its owner's, followed by a zero; and its end. */
struct str str_dup(struct str s);
void str_free(struct str s);
/* The part from FROM, at most N bytes; never reaches outside S. */
struct str str_sub(struct str s, size_t from, size_t n);
/* Without leading and trailing blanks (space, tab, CR, LF). */
struct str str_trim(struct str s);
/* Cuts the next part of *REST off at SEP into *PART. Returns false when nothing is left.
   "a,,b" gives "a", "", "b"; "a," gives "a", ""; "" gives nothing. Between calls *REST belongs to
   str_next. */
bool str_next(struct str *rest, char sep, struct str *part);
/* A decimal number with optional '-', nothing else around it, within int64. */
bool str_int(struct str s, int64_t *ret);
uint64_t str_hash(struct str s);
/* The length in bytes of the UTF-8 sequence that S begins with; 0 if it begins with none. */
size_t str_utf8_len(struct str s);
/* The number of that character; S begins with one. */
uint32_t str_utf8_code(struct str s);
/* Is it one that a terminal does instead of showing it: a control character, of Unicode too, a line's end, or what
   turns the direction of text? */
bool str_utf8_is_hidden(uint32_t code);
bool str_is_utf8(struct str s);

/* Is it a DNS label (RFC 1123, lower case, at most 63 characters)? With LETTER_FIRST the first
   character must be a letter, as a Service's name wants (RFC 1035). */
bool str_is_dns_label(struct str s, bool letter_first);

/* How many single-character edits (insert, delete, replace, swap of neighbours; letters differing
   only in case cost nothing) make B of A; at most MAX + 1 is returned. */
unsigned str_distance(struct str a, struct str b, unsigned max);

#endif
