/* A connection of a service that speaks HTTP no longer (101): its bytes, both ways, inside its TLS session. */
#ifndef HTTP_WIRE_H
#define HTTP_WIRE_H

#include "http/service.h"

#include <gnutls/gnutls.h>

struct tls_wire;

/* OVER is called once, when nothing more can be read or everything was sent: the connection is the owner's again. */
struct tls_wire *wire_new(struct loop *l, int fd, gnutls_session_t tls, const struct http_wire_config *c,
                          void (*over)(void *owner), void *owner);
void wire_free(struct tls_wire *w);
/* As the functions of an exchange: service.h. */
void wire_put(struct tls_wire *w, struct str bytes);
size_t wire_waiting(const struct tls_wire *w);
void wire_pause(struct tls_wire *w, bool pause);
void wire_end(struct tls_wire *w);
/* The other side is gone: nothing is read or sent any more. Does not call OVER. */
void wire_break(struct tls_wire *w);

#endif
