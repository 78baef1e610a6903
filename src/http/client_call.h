/* What client.c (who waits, who is late, who is told) and client_pool.c (libcurl on the loop) share. */
#ifndef HTTP_CLIENT_CALL_H
#define HTTP_CLIENT_CALL_H

#include "base/heap.h"
#include "http/client.h"

struct http_pool;

enum call_state {
	CALL_WAITING,
	CALL_ACTIVE, /* libcurl has it */
	CALL_ENDED,  /* its `done` is being called */
};

struct http_call {
	struct http_client *client;
	enum call_state state;
	struct http_call *prev, *next; /* in the client's list of waiting or of active ones */
	struct http_call *next_doomed;
	struct heap_node due;
	struct http_request r; /* its texts are in TEXT */
	char *text;

	struct http_pool *pool; /* where it is active */
	void *easy;
	msec began, last_byte;
	msec answered; /* when the status line came */
	size_t header_bytes;
	unsigned attempts; /* how often a connection was ready and the request about to go out */
	int status;        /* of the answer's status line, as soon as it is there */
	bool paused;       /* by its user */
	bool held;         /* libcurl keeps what was not taken */
	bool cancelled;    /* inside a callback of libcurl, where it cannot be taken away */
	const char *problem;
	struct buf body;
};

/* client.c, for the pool: */

struct http_client;
/* Around everything that may call users: what they ask for inside is carried out at the end. */
void http_client_enter(struct http_client *c);
void http_client_leave(struct http_client *c);
/* Between these two libcurl is at work and cannot be changed. */
void http_client_curl_begins(struct http_client *c);
void http_client_curl_ended(struct http_client *c);
bool http_client_is_dead(const struct http_client *c);
/* Ends the calls whose time is over. */
void http_client_expire(struct http_client *c);
/* The call has ended; PROBLEM is NULL if all of the answer is there. Frees the call. */
void http_client_finish(struct http_call *call, const char *problem, msec retry_after);

/* client_pool.c: connections to one server with one configuration. */

struct http_pool *http_pool_new(struct http_client *c, struct loop *l, const struct http_server *s, size_t connections,
                                struct err *e);
void http_pool_free(struct http_pool *p);
size_t http_pool_active(const struct http_pool *p);
void http_pool_start(struct http_pool *p, struct http_call *call);
/* Takes an active call away from libcurl; its connection is closed unless its answer was complete. */
void http_pool_stop(struct http_call *call);
/* libcurl hands over what it kept, and goes on. */
void http_pool_go_on(struct http_call *call);

#endif
