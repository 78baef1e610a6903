/* A small HTTP server on the loop (libmicrohttpd, no threads): for probes, metrics and a look inside. It
   answers GET and HEAD, and bounds connections, time and the size of what it reads. Idle connections keep nobody
   out (guests.h). */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "base/buf.h"
#include "base/err.h"
#include "loop/loop.h"

struct http_listener;

struct http_query {
	struct str method, path; /* "GET" or "HEAD"; the path decoded, without the query */
	bool loopback;           /* the peer is this machine */
	/* It asked for this machine by a name that is nobody else's, or by none. A page that a browser here shows may
	   have made its own host's name resolve to this machine: then it is that name. */
	bool named_loopback;
};

struct http_reply {
	int status;
	const char *content_type; /* a literal; NULL: text/plain */
	struct buf body;          /* taken over by the server; at most 64 MiB */
};

/* Fills *REPLY (status 404 and an empty body when called). Must not free the listener. */
typedef void (*http_handler_fn)(void *cookie, const struct http_query *q, struct http_reply *reply);

/* ADDRESS: ":8080", "127.0.0.1:0", "[::1]:8080", "localhost:8080". Without a host it listens on all
   addresses of both families. */
struct http_listener *http_listen(struct loop *l, struct str address, http_handler_fn fn, void *cookie, struct err *e);
/* The port that was taken. */
int http_listener_port(const struct http_listener *h);
/* Closes its connections, those with an answer under way too. */
void http_listener_free(struct http_listener *h);

#endif
