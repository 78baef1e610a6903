/* For the tests of this folder: servers that misbehave on purpose, in processes of their own, and answers
   that outlive `done`. */
#ifndef HTTP_TESTING_H
#define HTTP_TESTING_H

#include "http/client.h"

#include <sys/types.h>

/* Runs SERVE in a process of its own with a socket that listens on 127.0.0.1; returns its port. */
int testing_serve(void (*serve)(int listener));
/* Ends all of them. */
void testing_end_servers(void);

/* In the server: the next connection. */
int testing_accept(int listener);
/* Reads one request with its body; false at the end of the connection. HEAD gets its lines. */
enum { TESTING_HEAD = 16384 };
bool testing_read(int fd, char head[static TESTING_HEAD], struct buf *body);
void testing_say(int fd, const char *text);
/* A whole answer that keeps the connection. */
void testing_answer(int fd, int status, const char *headers, struct str body);
/* Waits until the process is killed. */
void testing_hang(void);

/* The answer to one request, copied. */
struct fetch {
	int calls, status;
	bool never_sent;
	msec retry_after, took, began;
	char problem[512];
	struct buf body;   /* of the answer */
	struct buf pieces; /* of the stream */
};

/* The loop and the client of the test that runs; made anew for each. Not answered within a minute: ends
   the test program. */
extern struct loop *testing_loop;
extern struct http_client *testing_client;
/* http://127.0.0.1:PORT with so many connections. */
void testing_connect(int port, size_t connections);
void testing_connect_to(const struct http_server *s, size_t connections);
/* Sends; the answer will be in *F. */
struct http_call *testing_send(struct fetch *f, struct http_request r);
/* Runs the loop until N more answers have come. */
void testing_wait(int n);
/* Ends the wait. */
void testing_enough(void);
/* A GET and its wait. */
void testing_get(struct fetch *f, const char *path);
bool testing_keep_piece(void *cookie, struct str piece);
void fetch_release(struct fetch *f);

int testing_setup(void **state);
int testing_teardown(void **state);

#endif
