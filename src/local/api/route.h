/* What a request means: method, address and content type as a value. It looks up types in the store and changes
   nothing. */
#ifndef LOCAL_API_ROUTE_H
#define LOCAL_API_ROUTE_H

#include "base/arena.h"
#include "kind/kind.h"
#include "local/pod/pod.h"
#include "local/store/store.h"

/* The one group whose objects are not the store's. */
#define METRICS_GROUP "metrics.k8s.io"
#define METRICS_VERSION "v1beta1"

/* As they stand in the request: the path and the query are not decoded yet. The strings must live as long as the
   route. */
struct api_ask {
	struct str method;       /* GET, POST, PUT, PATCH, DELETE */
	struct str path;         /* up to the question mark */
	struct str query;        /* after it */
	struct str content_type; /* of the body; empty is JSON, but not for PATCH */
};

enum api_action {
	API_STORE,         /* request; the body is to be put in, unless takes_body is false */
	API_WATCH,         /* watch */
	API_LOG,           /* request: the pod; log */
	API_EXEC,          /* request: the pod; exec */
	API_FORWARD,       /* request: the pod; port */
	API_METRICS,       /* request: pods, or one pod, whose use of the machine is asked for */
	API_EVICT,         /* request: the pod, to be deleted; the body is an Eviction */
	API_PATHS,         /* / */
	API_HEALTH,        /* /healthz /livez /readyz */
	API_VERSION,       /* /version */
	API_CORE,          /* /api */
	API_GROUPS,        /* /apis */
	API_GROUP,         /* /apis/GROUP: group */
	API_RESOURCES,     /* /api/v1, /apis/GROUP/VERSION: group, version */
	API_OPENAPI_V2,    /* /openapi/v2 */
	API_OPENAPI_V3,    /* /openapi/v3 */
	API_OPENAPI_GROUP, /* /openapi/v3/apis/GROUP/VERSION: group, version */
	API_ACCESS,        /* POST of a SelfSubjectAccessReview */
};

struct api_watch_options {
	const struct store_type *type;
	struct str ns, label_selector, field_selector;
	uint64_t from; /* 0: begin with what there is */
	bool bookmarks;
	/* WatchList: what there is comes first, then a bookmark that says so. */
	bool initial_events;
	int64_t timeout_s; /* 0: the server's own */
};

struct api_log_options {
	struct str container; /* empty: the only one, or the one that the pod's annotation names */
	bool follow, previous, timestamps;
	int64_t tail_lines;    /* -1: all */
	int64_t since_seconds; /* 0: from the beginning */
	msec since_time;       /* 0: … */
	int64_t limit_bytes;   /* 0: no limit */
};

struct api_exec_options {
	struct str container; /* as in the log's */
	pod_strs command;
	bool in, out, err, tty;
};

struct api_route {
	enum api_action action;
	struct str group, version;
	struct store_request request;
	bool takes_body;
	enum unknown_fields unknown; /* fieldValidation */
	bool protobuf;               /* the body is to be read by protobuf_to_json() */
	/* A list or an object may be answered as a Table, if that is asked for: which part of each object stands in its
	   rows (includeObject): None, Metadata, Object. */
	struct str include_object;
	/* A list: no older than this version; exactly this one. 0: any. */
	uint64_t not_older, exact;
	struct api_watch_options watch;
	struct api_log_options log;
	struct api_exec_options exec;
	int64_t port;
	/* If it is refused: HTTP's code, and a Status. In the arena. */
	int code;
	struct str body;
};

/* False: refused; the route says with what. Strings are in A or those of the ask. */
bool api_route(struct api_route *ret, const struct store *s, const struct api_ask *ask, struct arena *a);

#endif
