/* An HTTP client on the loop: one pool of connections to one server (libcurl, HTTP/1.1). Requests are
   values; exactly one `done` follows for each that was sent, unless it is cancelled. Every function here
   may be called inside `data` and `done`, http_cancel() and http_client_free() too. No redirects are
   followed, and what was sent is never sent twice, except for a GET whose connection turned out to be
   closed. */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/http_code.h"
#include "loop/loop.h"

struct http_server {
	struct str url;             /* https://127.0.0.1:6443, no path at the end or a prefix of all paths */
	struct str ca;              /* PEM; empty: the system's */
	struct str cert, key;       /* PEM; empty: none */
	struct str tls_server_name; /* for SNI and the check of the certificate; empty: the URL's */
	struct str proxy;           /* empty: what the environment says; "-": none */
	struct str user_agent;
	bool insecure; /* do not check the certificate */
};

struct http_client;

/* Copies what it needs of S. CONNECTIONS: how many at most; requests beyond them wait in order. NULL if S
   makes no sense; nothing is connected before the first request. */
struct http_client *http_client_new(struct loop *l, const struct http_server *s, size_t connections, struct err *e);
/* Cancels what is under way; no callback comes any more. */
void http_client_free(struct http_client *c);

enum http_method { HTTP_GET, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE };

/* Valid inside `done` only. */
struct http_answer {
	int status;          /* 0: no answer came, or not the whole of it */
	const char *problem; /* why, if status is 0, or if a streamed 2xx answer broke off; else NULL */
	bool never_sent;     /* the request certainly did not reach the server */
	struct str body;     /* the whole of it; empty for a streamed 2xx one */
	struct str sent;     /* the request's body, for who wants to send it again */
	msec retry_after;    /* from the header, at most a day; 0: none */
	msec took;           /* since http_send(), waiting included */
	msec began;          /* … until its first line; as `took` if none came */
};

struct http_request {
	enum http_method method;
	struct str path; /* with its query; begins with "/" */
	struct str body;
	struct str content_type;  /* of the body; empty: application/json */
	struct str accept;        /* empty: application/json */
	struct str authorization; /* the whole header's value; empty: none */
	msec timeout;             /* of the whole, waiting for a connection included; 0: none (a stream) */
	msec connect_timeout;     /* 0: 10 s */
	msec idle_timeout;        /* no byte of the answer for so long: broken off; 0: none */
	size_t body_max;          /* of an answer that is collected; more is a problem; 0: 16 MiB */
	/* A stream: called for each piece of a 2xx answer as it comes; false breaks it off. NULL: collect. */
	bool (*data)(void *cookie, struct str piece);
	void (*done)(void *cookie, const struct http_answer *a);
	void *cookie;
};

struct http_call;
/* Copies what it needs of R. The call is valid until `done` was called or it is cancelled; `done` is never
   called before http_send() has returned. */
struct http_call *http_send(struct http_client *c, const struct http_request *r);
/* No callback comes any more. */
void http_cancel(struct http_call *call);
/* Nothing more is read of a streamed answer, so that its server has to wait, until it is told to go on; meanwhile
   idle_timeout does not count. What had come before may be handed over once more. */
void http_pause(struct http_call *call);
void http_go_on(struct http_call *call);
/* From now on requests, those that wait too, go to S over new connections (rotated certificates); what is
   under way is left to end where it is. False: S makes no sense, and all stays as it was. */
bool http_client_refresh(struct http_client *c, const struct http_server *s, struct err *e);

#endif
