#include "logs/archive_resume.h"

#include "logs/merge.h"

/* The time in front of a line, of which HEAD is the beginning; if it has none, that of the line before. */
static int64_t time_of(struct str head, int64_t before)
{
	const char *blank = head.n ? memchr(head.p, ' ', head.n) : NULL;
	int64_t nanos;

	return nanoseconds_parse(str_sub(head, 0, blank ? (size_t)(blank - head.p) : head.n), &nanos) ? nanos : before;
}

static void scan_line(struct resume_scan *s)
{
	int64_t time = time_of((struct str){ s->head, s->n }, s->point.time);

	s->sure = s->sure || (s->point.time && time != s->point.time);
	s->point.lines = time == s->point.time ? s->point.lines + 1 : 1;
	s->point.time = time;
	s->n = 0;
}

void resume_scan(struct resume_scan *s, struct str piece)
{
	while (piece.n) {
		const char *newline = memchr(piece.p, '\n', piece.n);
		size_t n = newline ? (size_t)(newline - piece.p) : piece.n;
		size_t head = s->begun ? MIN(n, RESUME_HEAD - s->n) : 0;

		memcpy(s->head + s->n, piece.p, head);
		s->n += head;
		s->seen += n;
		if (!newline)
			return;
		if (s->begun)
			scan_line(s);
		s->begun = true;
		s->keep = ++s->seen;
		piece = str_sub(piece, n + 1, piece.n);
	}
}

/* Is the line that begins with the head one that is there already? */
static bool is_old(struct archive_resume *r)
{
	r->time = time_of((struct str){ r->head, r->n }, r->time);
	if (r->time == r->point.time)
		return ++r->seen <= r->point.lines;
	return r->time < r->point.time;
}

struct str resume_feed(struct archive_resume *r, struct str piece, struct str *head)
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
