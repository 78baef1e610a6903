/* The frames of WebSockets (RFC 6455) and their handshake, without a connection: for both ends. */
#ifndef HTTP_WEBSOCKET_H
#define HTTP_WEBSOCKET_H

#include "base/buf.h"

enum ws_op { WS_MORE = 0, WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 };
enum ws_code { WS_NORMAL = 1000, WS_PROTOCOL_ERROR = 1002, WS_UNSUPPORTED = 1003 };
enum { WS_CONTROL_MAX = 125, WS_HEAD_MAX = 14, WS_KEY = 24, WS_ACCEPT = 28 };

/* What a frame brings, or a part of it: a message of any length takes no memory here. */
struct ws_piece {
	enum ws_op op;    /* of the message: never WS_MORE */
	bool first, last; /* of the message; control frames are both */
	struct str bytes;
};

/* Zero, but for `masked`. */
struct ws_reader {
	bool masked; /* what comes must be: it comes from a client */
	unsigned char head[WS_HEAD_MAX];
	size_t n_head;
	bool in_frame, fin, in_message, began;
	enum ws_op op, message;
	uint64_t left;
	size_t mask_at;
	char control[WS_CONTROL_MAX];
	size_t n_control;
};

enum ws_got { WS_NOTHING, WS_PIECE, WS_WRONG };
/* Takes from *TEXT (N bytes, which are unmasked in place) and moves both on. WS_NOTHING: all was taken. WS_WRONG: the
   other side does not keep to the protocol; nothing more is to be read. */
enum ws_got ws_read(struct ws_reader *r, char **text, size_t *n, struct ws_piece *ret);

/* One frame: a whole message of A and B. MASK: 4 bytes, of clients; else NULL. */
void ws_put(struct buf *out, enum ws_op op, const unsigned char *mask, struct str a, struct str b);
void ws_put_close(struct buf *out, enum ws_code code, const unsigned char *mask);

/* Sec-WebSocket-Accept for a Sec-WebSocket-Key; zero-terminated. */
void ws_accept(char ret[static WS_ACCEPT + 1], struct str key);
/* Is WORD in a header's list ("keep-alive, Upgrade")? Case does not count. */
bool ws_lists(struct str header, struct str word);

#endif
