/* What the files of the runner share. Store watches, pidfds and inotify only record; runner_step() looks at what is
   there and does what is due. A pod is known by its UID: one that is deleted and made again is another. Times at which
   something is due are the loop's, those that are written down the clock's. */
#ifndef LOCAL_RUNNER_STATE_H
#define LOCAL_RUNNER_STATE_H

#include "base/json.h"
#include "base/map.h"
#include "local/pod/pod.h"
#include "local/runner/gpus.h"
#include "local/runner/runner.h"

#define ANNOTATION_GPUS "dl-operator.mpba.fbk.eu/gpus"

enum runner_stage {
	RUN_WAITS,   /* not admitted */
	RUN_BOUND,   /* is to be started */
	RUN_LIVES,   /* has a process */
	RUN_ENDED,   /* nothing of it is started any more */
	RUN_FOREIGN, /* on another node */
};

struct told;
struct runner_pod {
	struct runner *runner;
	struct runner_pod *prev, *next;
	char *ns, *name, *uid, *folder;
	yyjson_doc *object; /* as the store has it, or had it at last; NULL: it never did */
	bool slim;          /* it has ended: `object` is only its metadata */
	bool gone;          /* the store has it no more */
	enum runner_stage stage;
	struct runner_unit *unit; /* NULL: gone, ended or foreign from the start */
	struct amount wants;
	struct gpu_set gpus;
	int64_t gpus_missed; /* that it asked for and runs without */
	msec scheduled;      /* bound by us, at */
	uint64_t waits;      /* hash of what it was said to wait for; 0: nothing */
	/* Its processes. */
	pid_t pid;
	bool adopted; /* it ran before we came */
	int pidfd;    /* -1: none; with RUN_LIVES it is then looked at now and then */
	struct loop_fd *ended;
	int wd;             /* inotify's; -1: none */
	bool exited;        /* the parent process has ended */
	bool state_changed; /* state.json is new */
	bool status_due;    /* the store is to be told */
	msec write_at;      /* … and the last time it did not take it: not before */
	struct told *told;  /* what was told of each container already */
	size_t n_told;
	size_t notes_told;
	/* Its network. */
	int netns; /* open until the parent is inside; -1 */
	char ip[NET_IP_TEXT];
	bool has_ip;
	int own_port; /* a companion's, on the machine's loopback; 0: none */
	int own_name; /* with it: a descriptor that keeps others from taking it; -1 */
	/* The start. */
	bool lacks; /* a ConfigMap or a Secret that may come */
	int tries;
	msec retry_at;
	/* The end. */
	bool stop_asked, forced, delete_asked;
	uint64_t request; /* the one that was asked for */
	msec kill_at;
};

/* What is admitted as a whole: a job, or a pod without one. */
struct runner_unit {
	struct runner_unit *prev, *next; /* by creation */
	char *uid, *ns, *name;
	const struct kind *kind; /* NULL: its pods are all that is known */
	yyjson_doc *job;         /* NULL: gone, or not known */
	bool stale;              /* `job` is to be read anew */
	struct amount job_wants; /* of `job` as of GENERATION */
	bool job_counts;
	int64_t generation;
	int64_t replicas;              /* that the job has as a whole; 0: not known */
	size_t here, living, nameless; /* of its pods, in this round: together.c */
	msec came;                     /* the last of them, by the loop's time */
	msec created;
	bool admitted;
	size_t pods, unended;
	struct amount pods_want; /* those that have not ended */
	enum fit_verdict verdict;
	char *reason;
};

struct news;
struct host_service;
enum news_of { NEWS_POD, NEWS_SERVICE, NEWS_CONFIG, NEWS_CRD, NEWS_JOB, NEWS_NODE };
struct runner_watch {
	struct runner *r;
	enum news_of of;
	struct store_watch *watch;
};

enum { RUNNER_WATCHES = 6 };
struct runner {
	struct runner_config c;
	struct str folder, node, cwd;
	char host_ip[NET_IP_TEXT];
	const struct store_type *pod_type, *event_type, *node_type;
	struct runner_watch watches[RUNNER_WATCHES];
	struct runner_watch *job_watches; /* one for each kind; without a watch while there is no CRD */
	struct news *news;
	size_t n_news, cap_news;
	struct map pods, units, services, by_wd;
	struct map jobs; /* UIDs of those that exist */
	struct runner_pod *first_pod, *last_pod;
	struct runner_pod *look_next; /* where the last look ran out of time; NULL: it did not */
	struct runner_unit *first_unit, *last_unit;
	struct host_service *first_service, *last_service;
	int inotify;
	struct loop_fd *inotify_watch;
	size_t living;
	bool adopting;   /* the first look */
	bool stepping;   /* no need to be woken */
	bool cordoned;   /* the node is not to take pods */
	bool fit_due;    /* who may start */
	bool hosts_due;  /* names have changed */
	bool config_due; /* a ConfigMap or a Secret has changed */
	bool types_due;  /* a CRD has come */
	bool prune_due;  /* logs of jobs that are gone */
	bool resolv_known;
	struct str resolv; /* of `arena` */
	bool stopping;
	int64_t stop_grace;
	bool troubled;             /* the store did not take something: not at once again */
	msec now, next;            /* of this step; when to look again */
	struct arena arena, round; /* ROUND is of one step */
};

static inline void runner_wake_at(struct runner *r, msec t)
{
	r->next = MIN(r->next, t);
}

/* Whatever failed just now is tried again in a second. */
static inline void runner_trouble(struct runner *r)
{
	r->troubled = true;
	runner_wake_at(r, r->now + SECONDS(1));
}

static inline yyjson_val *pod_object(const struct runner_pod *p)
{
	return yyjson_doc_get_root(p->object);
}

#endif
