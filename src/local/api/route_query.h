/* The parameters and content types of a request, for route.c; nobody else includes it. */
#ifndef LOCAL_API_ROUTE_QUERY_H
#define LOCAL_API_ROUTE_QUERY_H

#include "local/api/route.h"
#include "local/api/uri.h"

struct api_routing {
	struct api_route *ret;
	const struct store *store;
	const struct api_ask *ask;
	struct arena *arena;
	struct uri_path path;
	struct uri_query query;
};

/* Writes the refusal; returns false. */
bool route_refuse(struct api_routing *r, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Each fills its part of the route; false: refused. */
bool route_body_type(struct api_routing *r); /* by the verb: the content type, and which kind of patch it is */
bool route_options(struct api_routing *r);   /* of calls of the store */
bool route_watch(struct api_routing *r);
bool route_log(struct api_routing *r);
bool route_exec(struct api_routing *r);
bool route_forward(struct api_routing *r);

#endif
