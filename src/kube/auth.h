/* The Authorization header: tokens that are opaque, re-read each minute and at once on 401; exec plugins
   run by argv, never by a shell. */
#ifndef KUBE_AUTH_H
#define KUBE_AUTH_H

#include "kube/config.h"

struct kube_auth;

/* READY is called whenever the header may have changed after it could not be had (a plugin has ended), and when a
   plugin has failed. */
struct kube_auth *kube_auth_new(struct loop *l, const struct kube_config *c, void (*ready)(void *cookie), void *cookie);
void kube_auth_free(struct kube_auth *a);

enum kube_auth_state { KUBE_AUTH_HAVE, KUBE_AUTH_WAIT, KUBE_AUTH_FAILED };
/* The header's value in *RET (empty: none is needed). WAIT: a plugin runs, `ready` follows. FAILED: *E says
   why; it is tried again with back-off, and `ready` follows. */
enum kube_auth_state kube_auth_header(struct kube_auth *a, struct str *ret, struct err *e);
/* The server said 401: what we have is old. */
void kube_auth_refused(struct kube_auth *a);

#endif
