/* The parts of a request's address. What a stranger has written is decoded once, after it was split. */
#ifndef LOCAL_API_URI_H
#define LOCAL_API_URI_H

#include "base/arena.h"

enum { URI_SEGMENTS_MAX = 8, URI_SEGMENT_MAX = 1024, URI_PARAMETERS_MAX = 256 };

/* "/api/v1/pods" as its three segments, decoded. One slash at the end is ok. */
struct uri_path {
	struct str v[URI_SEGMENTS_MAX];
	size_t n;
};
/* False: it does not begin with a slash, is too long, or has a segment that no name can be: empty, "." or "..", or with
   a slash, a percent sign or a control character in it once it is decoded. */
bool uri_path(struct uri_path *ret, struct str path, struct arena *a);

/* "a=b&c" as names and values. Of one that comes twice the first counts. */
struct uri_query {
	struct uri_parameter {
		struct str name, value;
	} v[URI_PARAMETERS_MAX];
	size_t n;
};
/* False: too many, or something in it cannot be decoded. */
bool uri_query(struct uri_query *ret, struct str query, struct arena *a);
/* Empty if it is not there. */
struct str uri_value(const struct uri_query *q, const char *name);
bool uri_has(const struct uri_query *q, const char *name);
/* As Kubernetes reads them: there, and neither "false" nor "0". */
bool uri_bool(const struct uri_query *q, const char *name);

#endif
