#include "http/websocket.h"

#include <gnutls/crypto.h>

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
enum { SHORT_MAX = 125, LENGTH_16 = 126, LENGTH_64 = 127, SHA1 = 20 };

static bool is_control(enum ws_op op)
{
	return op >= WS_CLOSE;
}

/* How long the head is, by what of it is there. */
static size_t head_wants(const struct ws_reader *r)
{
	unsigned length = r->n_head > 1 ? r->head[1] & 127 : 0;

	if (r->n_head < 2)
		return 2;
	return 2u + (length == LENGTH_16 ? 2u : length == LENGTH_64 ? 8u : 0u) + (r->head[1] & 128 ? 4u : 0u);
}

static bool read_length(struct ws_reader *r, uint64_t *ret)
{
	unsigned length = r->head[1] & 127;
	size_t bytes = length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0;
	uint64_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n = n << 8 | r->head[2 + i];
	*ret = bytes ? n : length;
	/* In as few bytes as it can be. */
	return bytes == 0 || (bytes == 2 ? n > SHORT_MAX : n > UINT16_MAX && n <= INT64_MAX);
}

static bool begin_frame(struct ws_reader *r)
{
	unsigned op = r->head[0] & 15;

	if (r->head[0] & 0x70 || (op > WS_BINARY && op < WS_CLOSE) || op > WS_PONG)
		return false;
	r->op = (enum ws_op)op;
	r->fin = r->head[0] & 128;
	if (!read_length(r, &r->left) || (bool)(r->head[1] & 128) != r->masked)
		return false;
	if (is_control(r->op) ? !r->fin || r->left > WS_CONTROL_MAX : (r->op == WS_MORE) != r->in_message)
		return false;
	if (!is_control(r->op) && r->op != WS_MORE) {
		r->message = r->op;
		r->in_message = true;
		r->began = false;
	}
	r->in_frame = true;
	r->mask_at = r->n_control = 0;
	return true;
}

static void unmask(struct ws_reader *r, char *text, size_t n)
{
	const unsigned char *mask = r->head + r->n_head - 4;

	for (size_t i = 0; r->masked && i < n; i++)
		text[i] = (char)(text[i] ^ (char)mask[r->mask_at++ % 4]);
}

/* True: the frame has something to say. */
static bool take(struct ws_reader *r, char *text, size_t n, struct ws_piece *ret)
{
	bool control = is_control(r->op), whole;

	unmask(r, text, n);
	r->left -= n;
	whole = r->left == 0;
	if (control) {
		memcpy(r->control + r->n_control, text, n);
		r->n_control += n;
		*ret = (struct ws_piece){ r->op, true, true, { r->control, r->n_control } };
	} else {
		*ret = (struct ws_piece){ r->message, !r->began, whole && r->fin, { text, n } };
		r->began |= n > 0;
		r->in_message = !ret->last;
	}
	if (whole) {
		r->in_frame = false;
		r->n_head = 0;
	}
	return control ? whole : n > 0 || ret->last;
}

enum ws_got ws_read(struct ws_reader *r, char **text, size_t *n, struct ws_piece *ret)
{
	while (*n || (r->in_frame && r->left == 0)) {
		char *at = *text;
		size_t k;

		if (!r->in_frame) {
			r->head[r->n_head++] = (unsigned char)*at;
			++*text;
			--*n;
			if (r->n_head == head_wants(r) && !begin_frame(r))
				return WS_WRONG;
			continue;
		}
		k = (size_t)MIN((uint64_t)*n, r->left);
		*text += k;
		*n -= k;
		if (take(r, at, k, ret))
			return WS_PIECE;
	}
	return WS_NOTHING;
}

void ws_put(struct buf *out, enum ws_op op, const unsigned char *mask, struct str a, struct str b)
{
	uint64_t n = a.n + b.n;
	size_t bytes = n <= SHORT_MAX ? 0 : n <= UINT16_MAX ? 2 : 8, from;

	buf_putc(out, (char)(128 | op));
	buf_putc(out, (char)((mask ? 128u : 0u) | (bytes == 0 ? (unsigned)n : bytes == 2 ? LENGTH_16 : LENGTH_64)));
	for (size_t i = bytes; i > 0; i--)
		buf_putc(out, (char)(n >> (8 * (i - 1))));
	if (mask)
		buf_put(out, (struct str){ (const char *)mask, 4 });
	from = out->n;
	buf_put(out, a);
	buf_put(out, b);
	for (size_t i = from; mask && i < out->n; i++)
		out->p[i] = (char)(out->p[i] ^ (char)mask[(i - from) % 4]);
}

void ws_put_close(struct buf *out, enum ws_code code, const unsigned char *mask)
{
	char text[2] = { (char)(code >> 8), (char)code };

	ws_put(out, WS_CLOSE, mask, (struct str){ text, 2 }, STR_NONE);
}

void ws_accept(char ret[static WS_ACCEPT + 1], struct str key)
{
	struct buf b = BUF_INIT(256);
	unsigned char hash[SHA1];

	buf_put(&b, str_sub(key, 0, WS_KEY));
	buf_put(&b, STR(GUID));
	ASSERT(gnutls_hash_fast(GNUTLS_DIG_SHA1, b.p, b.n, hash) == 0);
	buf_clear(&b);
	buf_base64_encode(&b, (struct str){ (const char *)hash, SHA1 });
	snprintf(ret, WS_ACCEPT + 1, "%.*s", STR_F(buf_str(&b)));
	buf_release(&b);
}

bool ws_lists(struct str header, struct str word)
{
	struct str part;

	while (str_next(&header, ',', &part))
		if (str_eq_nocase(str_trim(part), word))
			return true;
	return false;
}
