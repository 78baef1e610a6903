/* Certificates that are files are read anew: every minute, and soon after the server could not be reached or did
   not know us. */
#ifndef KUBE_CERTS_H
#define KUBE_CERTS_H

#include "kube/config.h"

struct kube_certs;

struct kube_certs_config {
	struct loop *loop;
	struct kube_config *config; /* its server's certificates are replaced */
	/* Others stand in the files: new connections shall use them. False, with *E: they stay as they are, and it
	   is tried again. */
	bool (*use)(void *cookie, const struct http_server *s, struct err *e);
	/* They were read anew; PROBLEM: they could not be, NULL: all is ok. May be NULL. */
	void (*told)(void *cookie, const char *problem);
	void *cookie, *told_cookie;
};

struct kube_certs *kube_certs_new(const struct kube_certs_config *c);
void kube_certs_free(struct kube_certs *k);
/* No answer came, or it was 401: perhaps what we have is old. Looks at once, unless it did a moment ago. */
void kube_certs_doubt(struct kube_certs *k);

#endif
