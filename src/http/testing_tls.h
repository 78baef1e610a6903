/* For tests over TLS: certificates in a folder of their own, and openssl's own server. */
#ifndef HTTP_TESTING_TLS_H
#define HTTP_TESTING_TLS_H

#include "http/testing.h"

/*
 * For a group of tests: makes a folder, goes there, and makes NAME.pem and NAME.key of two authorities, "ca" and
 * "other"; of "address" (127.0.0.1), "name" (api.cluster.test) and "client", signed by "ca"; of "stranger",
 * signed by "other".
 */
int testing_certificates(void **state);
int testing_remove_certificates(void **state);

/* Starts openssl s_server, which answers every GET with a page; ARGV comes after its port. Its port. */
int testing_serve_tls(const char *const *argv);

/* What NAME.ENDING holds; the last eight are kept. */
struct str testing_pem(const char *name, const char *ending);

#endif
