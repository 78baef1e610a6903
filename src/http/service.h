/*
 * An HTTPS server on the loop for those who carry a secret: bodies, and answers that come in pieces for as long as
 * anybody reads (libmicrohttpd, no threads). It listens on 127.0.0.1 and nowhere else.
 *
 * Who has not been admitted yet holds nothing up: such a connection has a few seconds for its first request, and when
 * there are too many the oldest goes.
 */
#ifndef HTTP_SERVICE_H
#define HTTP_SERVICE_H

#include "base/buf.h"
#include "base/err.h"
#include "loop/loop.h"

struct http_service;
struct http_exchange; /* one request and its answer */

struct http_service_request {
	struct str method;
	struct str path, query; /* as they came: not decoded; the query without its question mark */
	struct str body;        /* empty in admit() */
};

struct http_service_config {
	struct loop *loop;
	int port;             /* 0: any */
	struct str key, cert; /* PEM */
	size_t body_max;      /* more is answered with 413 */
	/* The headers are there, the body is not. False: it has been answered. */
	bool (*admit)(void *cookie, struct http_exchange *x, const struct http_service_request *q);
	/* It is whole. To be answered at once, or to become a stream at once. */
	void (*handle)(void *cookie, struct http_exchange *x, const struct http_service_request *q);
	/* The body was larger than body_max: answers. */
	void (*too_large)(void *cookie, struct http_exchange *x);
	void *cookie;
};

/* NULL, with *E: the port is not free, or the certificate is none. */
struct http_service *http_service_new(const struct http_service_config *c, struct err *e);
int http_service_port(const struct http_service *s);
/* Not from inside admit() or handle(). Everything under way ends. */
void http_service_free(struct http_service *s);

/* A header of the request; empty if it is not there. */
struct str http_header(struct http_exchange *x, const char *name);
/* CONTENT_TYPE must be a literal, or live as long as the service. The body is taken over, and empty afterwards. */
void http_answer(struct http_exchange *x, int status, const char *content_type, struct buf *body);

/* A Warning header (299) of the answer to come. Bytes that a header cannot hold become '?'; past 32 none is added. */
void http_warn(struct http_exchange *x, struct str text);

/* An answer with status 200 that comes in pieces. */
struct http_stream_config {
	const char *content_type; /* as for http_answer() */
	size_t max;               /* so many bytes may wait for the reader */
	/* Everything was read: may put more, and may end it. May be NULL. */
	void (*drained)(void *cookie);
	/* The exchange is over, whoever ended it: called exactly once, never inside one of these calls, inside
	   http_service_free() too. */
	void (*gone)(void *cookie);
	void *cookie;
};
void http_stream(struct http_exchange *x, const struct http_stream_config *c);
/* Where nothing waits a piece is taken whatever its size. False: the reader is too slow; it is cut off, what waits is
   dropped, and what is put later, too. */
bool http_stream_put(struct http_exchange *x, struct str bytes);
/* Bytes that wait for the reader. */
size_t http_stream_waiting(const struct http_exchange *x);
/* Nothing more will come: ends in good order when all was read. */
void http_stream_end(struct http_exchange *x);

/* The connection itself, after an answer that says so (101): bytes both ways, no longer HTTP. */
struct http_wire_config {
	/* Something came; the bytes may be changed in place. */
	void (*bytes)(void *cookie, char *text, size_t n);
	/* Less waits to be sent than before. */
	void (*drained)(void *cookie);
	/* It is over, whoever ended it: called exactly once, never inside one of these calls, inside
	   http_service_free() too. */
	void (*gone)(void *cookie);
	void *cookie;
};
void http_wire(struct http_exchange *x, const struct http_wire_config *c);
/* Without a limit: look at http_wire_waiting() before. */
void http_wire_put(struct http_exchange *x, struct str bytes);
size_t http_wire_waiting(const struct http_exchange *x);
/* While paused nothing is read; whether the other side is gone is seen nevertheless. */
void http_wire_pause(struct http_exchange *x, bool pause);
/* Nothing more will be put: it is closed when all was sent. */
void http_wire_end(struct http_exchange *x);

#endif
