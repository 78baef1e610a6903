/* What the files of the API share; nobody else includes it. */
#ifndef LOCAL_API_INTERNAL_H
#define LOCAL_API_INTERNAL_H

#include "http/service.h"
#include "local/api/accept.h"
#include "local/api/api.h"
#include "local/api/identity.h"
#include "local/api/route.h"
#include "local/api/status.h"

enum {
	API_ANSWER_MAX = 1 << 30,
	STREAMS_MAX = 192,        /* watches and logs that are followed: fewer than connections */
	STREAM_WAITING = 8 << 20, /* what may wait for the reader of a watch */
	BOOKMARK_MS = 60000,
};

struct watcher;
struct api {
	struct api_config config;
	struct arena kept; /* as long as it is open */
	struct tls_name identity;
	char *folder, *kubeconfig;
	struct http_service *service;
	struct arena arena; /* of the request that is answered */
	size_t streams;
	struct watcher *watchers;
	struct loop_timer *bookmarks;
};

/* A request that is being answered. */
struct api_answering {
	struct api *api;
	struct http_exchange *x;
	const struct api_route *route;
	enum accept_form form;
};

/* Each answers. */
void answer_json(struct api_answering *q, int code, struct buf *body);
void answer_status(struct api_answering *q, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
void answer_watch(struct api_answering *q);
void answer_log(struct api_answering *q);
void answer_evict(struct api_answering *q, struct str body);
void answer_exec(struct api_answering *q);
void answer_metrics(struct api_answering *q);
void answer_forward(struct api_answering *q);
/* The folder of the pod that runs here, appended to FOLDER. False: it has been answered. */
bool answer_pod_folder(struct api_answering *q, yyjson_val *pod, struct buf *folder);
/* The pod of the request, to be freed. NULL: there is none, and it has been answered. */
yyjson_doc *answer_read_pod(struct api_answering *q);
/* The container of POD that NAME says, or the only one. False: it has been answered. */
bool answer_choose_container(struct api_answering *q, yyjson_val *pod, struct str name, struct str *ret);
/* False: there are too many, and it has been answered. Else the caller counts it in api->streams. */
bool may_stream(struct api_answering *q);

/* watch.c. For api_open(); the timer is freed by api_close(). */
void watch_on_bookmarks(void *cookie);

#endif
