#include "kube/split.h"

/* A buffer that one huge text has made large is given back. */
enum { KEEP_MAX = 256 << 10 };

struct splitter splitter_make(size_t max)
{
	return (struct splitter){ .part = BUF_INIT(max), .rest = BUF_INIT(SPLIT_REST_MAX) };
}

static void empty(struct buf *b)
{
	if (b->cap > KEEP_MAX)
		buf_release(b);
	else
		buf_clear(b);
}

void splitter_reset(struct splitter *s)
{
	struct splitter fresh = splitter_make(s->part.max);

	empty(&s->part);
	buf_clear(&s->rest);
	fresh.part = s->part;
	fresh.rest = s->rest;
	*s = fresh;
}

void splitter_release(struct splitter *s)
{
	buf_release(&s->part);
	buf_release(&s->rest);
}

/* A piece of a text that is too long. */
static enum split let_go(struct splitter *s, struct str piece)
{
	skim_read(&s->skim, piece);
	s->skipped += piece.n;
	return s->skipped / SPLIT_SKIP_MAX > s->part.max ? SPLIT_TOO_LONG : SPLIT_MORE;
}

/* The part goes on with PIECE. EVENT: it is a line of a watch. */
static enum split hold(struct splitter *s, struct str piece, bool event)
{
	if (!s->skipped && piece.n <= s->part.max - s->part.n) {
		buf_put(&s->part, piece);
		return SPLIT_MORE;
	}
	if (!s->skipped) {
		s->skim = skim_make(event);
		let_go(s, buf_str(&s->part));
		empty(&s->part);
	}
	return let_go(s, piece);
}

static enum split end_skipped(struct splitter *s, const struct split_to *to)
{
	s->skipped = 0;
	return to->skipped(to->cookie, &s->skim) ? SPLIT_MORE : SPLIT_STOPPED;
}

/* TAIL ends the part; the rest of it, if any, is in the buffer. */
static enum split hand_on(struct splitter *s, struct str tail, bool event, const struct split_to *to)
{
	struct str text = tail;
	bool go_on;

	/* Most come in one piece, and need not be copied. */
	if (s->part.n || s->skipped || tail.n > s->part.max) {
		if (hold(s, tail, event) != SPLIT_MORE)
			return SPLIT_TOO_LONG;
		text = buf_str(&s->part);
	}
	if (s->skipped)
		return end_skipped(s, to);
	go_on = str_empty(str_trim(text)) || to->part(to->cookie, text);
	empty(&s->part);
	return go_on ? SPLIT_MORE : SPLIT_STOPPED;
}

enum split split_lines(struct splitter *s, struct str piece, const struct split_to *to)
{
	while (piece.n) {
		const char *end = memchr(piece.p, '\n', piece.n);
		size_t n = end ? (size_t)(end - piece.p) : piece.n;
		enum split got;

		if (!end)
			return hold(s, piece, true);
		got = hand_on(s, str_sub(piece, 0, n), true, to);
		if (got != SPLIT_MORE)
			return got;
		piece = str_sub(piece, n + 1, piece.n);
	}
	return SPLIT_MORE;
}

/* What one byte means for a list. */
enum split_step {
	STEP_REST,  /* belongs to the list around the items */
	STEP_ITEM,  /* to an item */
	STEP_LAST,  /* is an item's last one */
	STEP_AFTER, /* ends an item that was no object before it, if there was one */
	STEP_CLOSE, /* the same, and the items */
};

static enum split_step open_container(struct splitter *s, char c)
{
	bool items = c == '[' && s->depth == 1 && s->is_items;

	s->depth++;
	if (s->in_items)
		return STEP_ITEM;
	s->in_items = items;
	return STEP_REST;
}

static enum split_step close_container(struct splitter *s)
{
	if (s->depth)
		s->depth--;
	if (s->in_items && s->depth == 1) {
		s->in_items = false;
		return STEP_CLOSE;
	}
	if (s->in_items)
		return s->depth == 2 ? STEP_LAST : STEP_ITEM;
	s->done |= s->depth == 0;
	return STEP_REST;
}

static enum split_step in_string(struct splitter *s, char c)
{
	if (s->escaped)
		s->escaped = false;
	else if (c == '\\')
		s->escaped = true;
	else if (c == '"')
		s->in_string = false;
	return s->in_items ? STEP_ITEM : STEP_REST;
}

static enum split_step step_char(struct splitter *s, char c)
{
	if (s->in_string)
		return in_string(s, c);
	switch (c) {
	case '"':
		s->in_string = true;
		s->key = s->rest.n;
		break;
	case ':':
		if (s->depth == 1)
			s->is_items = str_eqc(str_trim(str_sub(buf_str(&s->rest), s->key, s->rest.n)), "\"items\"");
		break;
	case '{':
	case '[':
		return open_container(s, c);
	case '}':
	case ']':
		return close_container(s);
	case ',':
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		if (s->in_items && s->depth == 2)
			return STEP_AFTER;
		break;
	default:
		break;
	}
	return s->in_items ? STEP_ITEM : STEP_REST;
}

/* How many bytes of a string mean nothing but themselves: most of a list is that. */
static size_t plain(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] != '"' && p[i] != '\\')
		i++;
	return i;
}

enum split split_list(struct splitter *s, struct str piece, const struct split_to *to)
{
	size_t from = 0; /* of the item in this piece */
	enum split got;

	for (size_t i = 0; i < piece.n; i++) {
		enum split_step what;

		if (s->in_string && s->in_item && !s->escaped)
			i += plain(piece.p + i, piece.n - i);
		if (i == piece.n)
			break;
		what = step_char(s, piece.p[i]);
		if (what == STEP_ITEM || what == STEP_LAST) {
			if (!s->in_item)
				from = i;
			s->in_item = true;
		}
		if (s->in_item && what != STEP_ITEM) {
			got = hand_on(s, str_sub(piece, from, i + (what == STEP_LAST) - from), false, to);
			if (got != SPLIT_MORE)
				return got;
			s->in_item = false;
		}
		if (what == STEP_REST || what == STEP_CLOSE)
			buf_putc(&s->rest, piece.p[i]);
	}
	if (s->rest.overflow)
		return SPLIT_TOO_LONG;
	return s->in_item ? hold(s, str_sub(piece, from, piece.n), false) : SPLIT_MORE;
}
