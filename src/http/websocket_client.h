/* A WebSocket to a server, on the loop: TLS, proxy and names as for calls (client.h). */
#ifndef HTTP_WEBSOCKET_CLIENT_H
#define HTTP_WEBSOCKET_CLIENT_H

#include "http/client.h"
#include "http/websocket.h"

struct websocket;

struct websocket_config {
	struct str path;          /* with its query; begins with "/" */
	struct str authorization; /* the whole header's value; empty: none */
	struct str protocols;     /* "v5.channel.k8s.io, v4.channel.k8s.io" */
	/* The server agreed to one of them. */
	void (*opened)(void *cookie, struct str protocol);
	/* Of a message; pings are answered already. */
	void (*piece)(void *cookie, const struct ws_piece *p);
	/* Less waits to be sent than before. */
	void (*drained)(void *cookie);
	/* It has ended, or never began; nothing comes any more. STATUS: HTTP's, of a refusal, and TEXT its body. 0:
	   TEXT says what went wrong; empty: the server ended it in good order. */
	void (*closed)(void *cookie, int status, struct str text);
	void *cookie;
};

/* Connects, which may take ten seconds and waits for nothing else. NULL, with *E: no connection. */
struct websocket *websocket_open(struct loop *l, const struct http_server *s, const struct websocket_config *c,
                                 struct err *e);
/* Not inside its callbacks. */
void websocket_free(struct websocket *w);
/* A whole message of A and B, without a limit: look at websocket_waiting() before. */
void websocket_put(struct websocket *w, enum ws_op op, struct str a, struct str b);
size_t websocket_waiting(const struct websocket *w);
void websocket_pause(struct websocket *w, bool pause);

#endif
