#include "logs/merge.h"

enum { SOURCE_MAX = 1 << 20, NANO_DIGITS = 9 };

bool nanoseconds_parse(struct str s, int64_t *ret)
{
	int64_t nanos = 0;
	size_t digits = 0;
	msec ms;

	/* A year that nanoseconds in 64 bits can say. */
	if (!time_parse(s, &ms) || ms < 0 || ms > INT64_MAX / 1000000 - 1000)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '.')
			continue;
		for (i++; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && digits < NANO_DIGITS; i++, digits++)
			nanos = nanos * 10 + (s.p[i] - '0');
	}
	for (; digits < NANO_DIGITS; digits++)
		nanos *= 10;
	*ret = ms / 1000 * 1000000000 + nanos;
	return true;
}

struct merge_source *merge_add(struct log_merge *m, void *cookie)
{
	struct merge_source *s = xcalloc(1, sizeof(*s));

	s->cookie = cookie;
	s->bytes = (struct buf)BUF_INIT(SOURCE_MAX);
	m->v = xrealloc(m->v, (m->n + 1) * sizeof(struct merge_source *));
	m->v[m->n++] = s;
	return s;
}

/* The time in front of the line, if there is one; *SKIP: how many bytes it takes. */
static void read_time(struct merge_source *s, struct str line, size_t *skip)
{
	const char *blank = line.n ? memchr(line.p, ' ', MIN(line.n, sizeof(s->time_text))) : NULL;
	struct str time = str_sub(line, 0, blank ? (size_t)(blank - line.p) : line.n);
	int64_t nanos;

	*skip = 0;
	if (time.n >= sizeof(s->time_text) || !nanoseconds_parse(time, &nanos))
		return;
	snprintf(s->time_text, sizeof(s->time_text), "%.*s", STR_F(time));
	s->time = nanos;
	*skip = blank ? time.n + 1 : time.n;
}

static void drop_taken(struct merge_source *s)
{
	if (!s->at || (s->at < MERGE_PART && s->at < s->bytes.n))
		return;
	memmove(s->bytes.p, s->bytes.p + s->at, s->bytes.n - s->at);
	s->bytes.n -= s->at;
	s->at = 0;
}

/* Is the line or part that was found one that was handed out from an earlier stream? Of one that was in part, what is
   new stays. */
static bool is_repeated(struct merge_source *s)
{
	size_t text = s->length - s->skip;

	if (!s->left_out.time)
		return false;
	if (!s->in_line)
		s->in_old = s->time < s->left_out.time || (s->time == s->left_out.time && s->left_out.lines);
	if (s->in_old) {
		s->left_out.lines -= s->time == s->left_out.time && !s->part;
		return true;
	}
	if (s->time == s->left_out.time && text <= s->left_out.bytes && s->part) {
		s->left_out.bytes -= text;
		return true;
	}
	if (s->time == s->left_out.time)
		s->skip += MIN(s->left_out.bytes, text);
	s->left_out.time = 0;
	return false;
}

/* S without a character at its end of which only the first bytes are there. */
static size_t whole_characters(struct str s)
{
	for (size_t back = 1; back <= 3 && back <= s.n; back++) {
		unsigned char c = (unsigned char)s.p[s.n - back];
		size_t wants = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if ((c & 0xc0) != 0x80)
			return wants > back ? s.n - back : s.n;
	}
	return s.n;
}

/* Finds the next line or part of one. */
static void find_line(struct merge_source *s, msec now)
{
	for (;;) {
		struct str rest = str_sub(buf_str(&s->bytes), s->at, s->bytes.n);
		const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;

		if (s->ready || !rest.n || (!end && !s->ended && rest.n < MERGE_PART && !memchr(rest.p, '\r', rest.n)))
			return;
		s->length = end ? (size_t)(end - rest.p) : MIN(rest.n, (size_t)MERGE_PART);
		s->part = !end && !(s->ended && s->length == rest.n);
		if (s->part)
			s->length = whole_characters(str_sub(rest, 0, s->length));
		s->skip = 0;
		if (!s->in_line)
			read_time(s, str_sub(rest, 0, s->length), &s->skip);
		if (!is_repeated(s)) {
			s->ready = true;
			s->since = now;
			return;
		}
		s->in_line = s->part;
		s->at += s->length + (end != NULL);
	}
}

void merge_again(struct merge_source *s)
{
	s->left_out.time = s->out_time;
	s->left_out.lines = s->out_lines;
	s->left_out.bytes = s->out_bytes;
	s->time = 0;
	s->ended = s->in_line = s->in_old = s->ready = false;
	buf_clear(&s->bytes);
	s->at = 0;
}

void merge_push(struct merge_source *s, struct str bytes, msec now)
{
	drop_taken(s);
	buf_put(&s->bytes, bytes);
	find_line(s, now);
}

void merge_end(struct merge_source *s, msec now)
{
	s->ended = true;
	find_line(s, now);
}

/* The source whose line comes next, if all that could come before it is known or was waited for. */
static struct merge_source *first(const struct log_merge *m, msec now, msec *wake)
{
	struct merge_source *best = NULL;
	bool all = true;

	*wake = NEVER;
	/* Nobody else's line comes into the middle of one, unless the rest takes too long. */
	if (m->broken && m->broken->ready)
		return m->broken;
	for (size_t i = 0; i < m->n; i++) {
		struct merge_source *s = m->v[i];

		if (s->ready && (!best || s->time < best->time))
			best = s;
		all = all && (s->ready || s->ended);
	}
	if (!best || all || m->grace == NEVER)
		return all ? best : NULL;
	if (now - best->since >= m->grace)
		return best;
	*wake = best->since + m->grace;
	return NULL;
}

/* The line or part that is handed out now. */
static void note_out(struct merge_source *s)
{
	if (!s->in_line && s->time != s->out_time)
		s->out_lines = 0;
	s->out_time = s->time;
	s->out_bytes = s->part ? s->out_bytes + s->length - s->skip : 0;
	s->out_lines += !s->part;
}

bool merge_next(struct log_merge *m, msec now, struct merge_line *ret, msec *wake)
{
	struct merge_source *s;
	struct str rest;

	for (size_t i = 0; i < m->n; i++)
		find_line(m->v[i], now);
	s = first(m, now, wake);
	if (!s)
		return false;
	rest = str_sub(buf_str(&s->bytes), s->at, s->bytes.n);
	*ret = (struct merge_line){ .source = s,
		                    .time = str_c(s->time_text),
		                    .part = s->part,
		                    .text = str_sub(rest, s->skip, s->length - s->skip) };
	note_out(s);
	s->at += s->length + (rest.n > s->length && rest.p[s->length] == '\n' && !s->part);
	s->ready = false;
	s->in_line = s->part;
	m->broken = s->part ? s : NULL;
	return true;
}

void merge_remove(struct log_merge *m, struct merge_source *s)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->v[i] != s)
			continue;
		m->v[i] = m->v[--m->n];
		if (m->broken == s)
			m->broken = NULL;
		buf_release(&s->bytes);
		free(s);
		return;
	}
}

bool merge_done(const struct log_merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i]->ready || !m->v[i]->ended || merge_held(m->v[i]))
			return false;
	return true;
}

void merge_release(struct log_merge *m)
{
	for (size_t i = 0; i < m->n; i++) {
		buf_release(&m->v[i]->bytes);
		free(m->v[i]);
	}
	free(m->v);
	*m = (struct log_merge){ .grace = m->grace };
}
