/* A growing buffer with a maximum that is given at its start. Past the maximum it stays as it was
   and remembers that it overflowed: check once, at the end. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

struct buf {
	char *p; /* always followed by a zero once something was written */
	size_t n, cap, max;
	bool overflow;
};

#define BUF_INIT(most)                                                                                                 \
	{                                                                                                              \
		NULL, 0, 0, (most), false                                                                              \
	}

/* S must not lie in the buffer itself. */
void buf_put(struct buf *b, struct str s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Appends S; bytes that are no UTF-8 become U+FFFD. */
void buf_utf8(struct buf *b, struct str s);
/* Appends S as a JSON string with its quotes. S must be UTF-8; other bytes become U+FFFD. */
void buf_json_str(struct buf *b, struct str s);
/* Appends S in base64, with padding, on one line. */
void buf_base64_encode(struct buf *b, struct str s);
/* Appends what S says in base64: strict, with padding; line breaks are skipped. False if it is none. */
bool buf_base64(struct buf *b, struct str s);

static inline struct str buf_str(const struct buf *b)
{
	return (struct str){ b->p ? b->p : "", b->n };
}

/* Empties it, keeps the memory. */
void buf_clear(struct buf *b);
void buf_release(struct buf *b);

#endif
