/* Files to and from a pod: tar on both sides, through exec. */
#ifndef CLIENT_COPY_H
#define CLIENT_COPY_H

#include "client/remote.h"

struct pod_copy {
	struct str ns, pod;
	struct str container; /* empty: the only one */
	struct str there;     /* a path in the container */
	const char *here;
};
/* A folder is copied with what is in it; where the target is a folder, into it. False: it was said why; return
   cli->status. */
bool copy_to_pod(struct remote *r, const struct pod_copy *c);
/* What the container sends gets nowhere but to the target: see copy_check(). */
bool copy_from_pod(struct remote *r, const struct pod_copy *c);

/* Looks at what was unpacked below ROOT: links that lead out of it go, and set-uid bits. False, with *E: there is
   something that is no file, folder or link. *RET_LINKS: how many links went. */
bool copy_check(const char *root, size_t *ret_links, struct err *e);

#endif
