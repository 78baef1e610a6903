/* Objects of a cluster and how they change: a list first, then a watch that goes on for ever, whatever happens to it.
 */
#ifndef CLIENT_FOLLOW_H
#define CLIENT_FOLLOW_H

#include "client/remote.h"

struct follow;
struct follow_events {
	void (*put)(void *cookie, yyjson_val *object); /* is there, or has changed; may come twice */
	void (*gone)(void *cookie, yyjson_val *object);
	/* A whole list has been put; what was not in it is gone. */
	void (*listed)(void *cookie);
	void *cookie;
};

/* LABELS, FIELDS: selectors, may be empty. */
struct follow *follow_new(struct remote *r, struct kube_resource resource, struct str ns, struct str labels,
                          struct str fields, const struct follow_events *ev);
void follow_free(struct follow *f);
/* 0, or why it cannot go on: the code that the server answered with, if asking again does not help (401, 403, 404).
   FOLLOW_SILENT if there is no answer and never was one. */
enum { FOLLOW_SILENT = -1 };
int follow_refused(const struct follow *f, struct str *message);

#endif
