/* Whose logs there are: the pods of a job, or of all jobs, and their containers; listed once or followed. */
#ifndef LOGS_PODS_H
#define LOGS_PODS_H

#include "client/follow.h"
#include "client/jobs.h"
#include "logs/pod.h"

/* What the status of a pod says of a container. */
struct log_container {
	struct str name;
	bool running, ended; /* neither: it has no log yet */
	int64_t restarts;
};

struct log_pods_events {
	void (*pod)(void *cookie, const struct log_pod *p); /* is there, or has changed; may be NULL */
	/* After it, for each container, those that initialise first. */
	void (*container)(void *cookie, const struct log_pod *p, const struct log_container *c);
	/* Followed: OBJECT is as it was at last; log_pods_take() reads it. */
	void (*gone)(void *cookie, yyjson_val *object);
	void (*listed)(void *cookie); /* all that are there have been told */
	void *cookie;
};

struct log_pods {
	struct cli_session *session;
	const struct job_found *job; /* NULL: all jobs … */
	bool all_namespaces;         /* … of all namespaces */
	const char *role;            /* NULL: all */
	int32_t index;               /* -1: all */
	const char *what;            /* how messages call them: "pods" */
	struct log_pods_events events;
	/* Read only. */
	bool listed;
	bool ended; /* followed: the job has, or is gone */
	msec ended_at;
	/* Its own. */
	struct follow *pods, *object;
	struct arena arena;
	struct str uid;
};

/* Tells of all pods that are there; with FOLLOW nothing comes before the loop runs, and it goes on for ever. False:
 *STATUS is why, and it was said. */
bool log_pods_start(struct log_pods *p, bool follow, enum exit_code *status);
void log_pods_take(struct log_pods *p, yyjson_val *pod);
/* Is the role and index one that is wanted? */
bool log_pods_has(const struct log_pods *p, struct str role, int64_t index);
/* Followed: can it not go on? */
bool log_pods_refused(const struct log_pods *p);
/* Says why it cannot go on. CLI_OK: it can. */
enum exit_code log_pods_refusal(struct log_pods *p);
void log_pods_release(struct log_pods *p);

#endif
