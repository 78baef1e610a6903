/* Network namespaces that no process lives in: a descriptor keeps one, and whoever enters it keeps it further. */
#ifndef LOCAL_NET_NS_H
#define LOCAL_NET_NS_H

#include "base/err.h"

/* Something that is done inside a network namespace; it runs in a thread of its own while the caller waits. */
typedef bool (*ns_fn)(void *cookie, struct err *e);

/* A new network namespace, owned by the caller's user namespace, in which FN has run (NULL: nothing). The descriptor
   (close-on-exec), or -1. When it is closed and no process has entered, the namespace goes with all that is in it. */
int ns_new(ns_fn fn, void *cookie, struct err *e);
/* Runs FN inside the namespace FD. */
bool ns_inside(int fd, ns_fn fn, void *cookie, struct err *e);
/* The namespace that this thread is in; -1 on failure. */
int ns_own(struct err *e);
/* Sets net.* (or any) sysctl of the namespace that the thread is in: PATH is below /proc/sys. */
bool ns_sysctl(const char *path, const char *value, struct err *e);

#endif
