/* Sockets that listen, for the servers. */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include "base/err.h"
#include "base/str.h"

/* ADDRESS: ":8080", "127.0.0.1:0", "[::1]:8080", "localhost:8080". Without a host it listens on all addresses of both
   families. -1, with *E. */
int http_listen_at(struct str address, struct err *e);
/* The port of a socket that listens. */
int http_port_of(int s);
/* Is it an address of this machine that no other can reach? A is a struct sockaddr; NULL is none. */
bool http_is_loopback(const void *a);
/* A Host header: "localhost:8080", "127.0.0.1", "[::1]:8080"; empty is ok. */
bool http_names_loopback(struct str host);

#endif
