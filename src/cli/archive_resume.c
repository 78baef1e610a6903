#include "cli/archive_resume.h"

#include "cli/merge.h"

/* The time in front of a line, of which HEAD is the beginning; if it has none, that of the line before. */
static int64_t time_of(struct str head, int64_t before)
{
	const char *blank = head.n ? memchr(head.p, ' ', head.n) : NULL;
	int64_t nanos;

	return nanoseconds_parse(str_sub(head, 0, blank ? (size_t)(blank - head.p) : head.n), &nanos) ? nanos : before;
}

bool resume_scan(struct str end, bool whole, struct resume_point *ret, size_t *keep)
{
	bool sure = whole;
	size_t at = 0;

	*ret = (struct resume_point){ 0 };
	while (at < end.n) {
		struct str rest = str_sub(end, at, end.n);
		const char *newline = memchr(rest.p, '\n', rest.n);
		size_t n = newline ? (size_t)(newline - rest.p) : 0;
		int64_t time;

		if (!newline)
			break;
		time = time_of(str_sub(rest, 0, MIN(n, (size_t)RESUME_HEAD)), ret->time);
		sure = sure || (ret->lines && time != ret->time);
		ret->lines = time == ret->time ? ret->lines + 1 : 1;
		ret->time = time;
		at += n + 1;
	}
	*keep = at;
	return sure && (ret->time || whole);
}

/* Is the line that begins with the head one that is there already? */
static bool is_old(struct resume *r)
{
	r->time = time_of((struct str){ r->head, r->n }, r->time);
	if (r->time == r->point.time)
		return ++r->seen <= r->point.lines;
	return r->time < r->point.time;
}

struct str resume_feed(struct resume *r, struct str piece, struct str *head)
{
	*head = STR_NONE;
	for (size_t i = 0; i < piece.n && !r->caught_up; i++) {
		char c = piece.p[i];

		if (r->in_line) {
			r->in_line = c != '\n';
			continue;
		}
		if (c != '\n' && c != ' ' && r->n < RESUME_HEAD) {
			r->head[r->n++] = c;
			continue;
		}
		if (is_old(r)) {
			r->in_line = c != '\n';
			r->n = 0;
			continue;
		}
		r->caught_up = true;
		*head = (struct str){ r->head, r->n };
		return str_sub(piece, i, piece.n);
	}
	return r->caught_up ? piece : STR_NONE;
}
