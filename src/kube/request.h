/* Requests to the API server as values: what goes on the wire, tested without a server. */
#ifndef KUBE_REQUEST_H
#define KUBE_REQUEST_H

#include "base/arena.h"
#include "cluster/cluster.h"
#include "http/client.h"

/* Where a resource lives: /api/v1/namespaces/NS/pods/NAME. */
struct kube_resource {
	struct str group, version, plural; /* group empty: the core */
	bool namespaced;
};

/* The resources that every cluster has: pods, services and nodes. */
const struct kube_resource *kube_builtin_resource(enum resource r);

/* What goes on the wire for one request of cluster.h; the strings live in A or belong to the request. */
struct kube_wire {
	enum http_method method;
	struct str path, body, content_type;
};
/* KIND: the resource, for jobs and what is optional. False, with *E, for a name that cannot stand in a path (empty,
   "..", with a slash …): the server would take it for another resource. */
bool kube_wire_request(struct kube_wire *ret, const struct request *r, const struct kube_resource *kind,
                       struct arena *a, struct err *e);

struct kube_list_options {
	struct str ns; /* empty: all */
	struct str label_selector, field_selector;
	struct str resource_version;       /* watch: from here; list: empty, then it is consistent */
	struct str resource_version_match; /* list with a version: Exact or NotOlderThan */
	struct str continue_token;         /* of the page before; the version is in it */
	int limit;                         /* of a page; 0: none */
	bool watch, bookmarks;
	int timeout_seconds; /* watch: the server ends it then; 0: when it likes */
};
/* Everything but RFC 3986's unreserved characters as %XX: right in a path's segment and in a query. */
void kube_put_escaped(struct buf *b, struct str s);
struct str kube_list_path(const struct kube_resource *r, const struct kube_list_options *o, struct arena *a);
/* One object of them. No character of NAME leads out of its place in the path; "." and ".." are no names. */
struct str kube_object_path(const struct kube_resource *r, struct str ns, struct str name, struct arena *a);

#endif
