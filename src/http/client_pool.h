/* What the files that know libcurl share: a pool, its easy handles, its configuration. */
#ifndef HTTP_CLIENT_POOL_H
#define HTTP_CLIENT_POOL_H

#include "http/client_call.h"

#include <curl/curl.h>

enum { HEADER_LINES = 6 };

/* One transfer at a time, and again another. */
struct http_easy {
	CURL *curl;
	struct http_pool *pool;
	struct http_call *call;
	size_t read;            /* of its body, by libcurl */
	struct http_easy *next; /* in the free list */
	struct buf text;        /* the URL, then the header lines, each with its zero */
	struct curl_slist lines[HEADER_LINES];
	char error[CURL_ERROR_SIZE]; /* libcurl's */
	char too_long[64];
};

/* Does not change while the pool lives. */
struct http_config {
	struct http_server server; /* its texts are in TEXT, each with a zero behind */
	char *text;
	char *base;                    /* of all URLs */
	char *host;                    /* the Host header's line, if it is not the URL's */
	struct curl_slist *connect_to; /* where to go instead of the URL's host */
};

struct http_pool {
	struct http_client *client;
	struct loop *loop;
	CURLM *multi;
	struct loop_timer *timer;
	struct http_easy *unused;
	size_t active;
	struct http_config config;
};

/* client_config.c: false if S makes no sense; to be released in any case. */
bool http_config_init(struct http_config *c, const struct http_server *s, struct err *e);
void http_config_release(struct http_config *c);

/* client_easy.c: */
struct http_easy *http_easy_new(struct http_pool *p);
void http_easy_free(struct http_easy *easy);
/* Makes it ready for the call. */
void http_easy_set(struct http_easy *easy, struct http_call *call);
/* How the server of C is reached: versions, TLS, proxy, names. */
void http_curl_reach(CURL *curl, const struct http_config *c);
/* Forgets everything, also what libcurl counts. */
void http_easy_reset(struct http_easy *easy);

#endif
