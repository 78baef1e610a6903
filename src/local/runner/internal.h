/* What the files of the runner share. Store watches, pidfds and inotify only record; runner_step() looks at what is
   there and does what is due. A pod is known by its UID: one that is deleted and made again is another. Times at which
   something is due are the loop's, those that are written down the clock's. */
#ifndef LOCAL_RUNNER_INTERNAL_H
#define LOCAL_RUNNER_INTERNAL_H

#include "base/json.h"
#include "base/map.h"
#include "local/pod/pod.h"
#include "local/runner/gpus.h"
#include "local/runner/runner.h"

#define ANNOTATION_GPUS "dl-operator.mpba.fbk.eu/gpus"

enum stage {
	STAGE_WAITS,   /* not admitted */
	STAGE_BOUND,   /* is to be started */
	STAGE_LIVES,   /* has a process */
	STAGE_ENDED,   /* nothing of it is started any more */
	STAGE_FOREIGN, /* on another node */
};

/* What was told of a container already. */
struct told {
	bool running, backing_off;
	int64_t restarts, problems;
};

struct run_pod {
	struct runner *runner;
	struct run_pod *prev, *next;
	char *ns, *name, *uid, *folder;
	yyjson_doc *object; /* as the store has it, or had it at last; NULL: it never did */
	bool slim;          /* it has ended: `object` is only its metadata */
	bool gone;          /* the store has it no more */
	enum stage stage;
	struct unit *unit; /* NULL: gone, ended or foreign from the start */
	struct amount wants;
	struct gpu_set gpus;
	msec scheduled; /* bound by us, at */
	uint64_t waits; /* hash of what it was said to wait for; 0: nothing */
	/* Its processes. */
	pid_t pid;
	bool adopted; /* it ran before we came */
	int pidfd;    /* -1: none; with STAGE_LIVES it is then looked at now and then */
	struct loop_fd *ended;
	int wd;             /* inotify's; -1: none */
	bool exited;        /* the parent process has ended */
	bool state_changed; /* state.json is new */
	bool status_due;    /* the store is to be told */
	struct told *told;
	size_t n_told;
	size_t notes_told;
	/* Its network. */
	int netns; /* open until the parent is inside; -1 */
	char ip[NET_IP_TEXT];
	bool has_ip;
	int board_port; /* TensorBoard's, on the machine's loopback; 0: none */
	int board_name; /* with it: a descriptor that keeps others from taking it; -1 */
	/* The start. */
	bool chosen; /* for this round */
	bool lacks;  /* a ConfigMap or a Secret that may come */
	int tries;
	msec retry_at;
	/* The end. */
	bool stop_asked, forced, delete_asked;
	uint64_t request; /* the one that was asked for */
	msec kill_at;
};

/* What is admitted as a whole: a job, or a pod without one. */
struct unit {
	struct unit *prev, *next; /* by creation */
	char *uid, *ns, *name;
	const struct kind *kind; /* NULL: its pods are all that is known */
	yyjson_doc *job;         /* NULL: gone, or not known */
	bool stale;              /* `job` is to be read anew */
	struct amount job_wants; /* of `job` as of GENERATION */
	bool job_counts;
	int64_t generation;
	msec created;
	bool admitted;
	size_t pods, unended;
	struct amount pods_want; /* those that have not ended */
	enum fit_verdict verdict;
	char *reason;
};

enum news_of { NEWS_POD, NEWS_SERVICE, NEWS_CONFIG, NEWS_DEFINITION, NEWS_JOB };
struct news {
	enum news_of of;
	enum store_change change;
	char *text;
	size_t n;
};

struct watch {
	struct runner *r;
	enum news_of of;
	struct store_watch *watch;
};

struct host_service {
	struct host_service *prev, *next;
	char *key;            /* namespace/name */
	yyjson_doc *selector; /* {"selector": …} */
};

enum { RUNNER_WATCHES = 5 };
struct runner {
	struct runner_config c;
	struct str folder, node, cwd;
	char host_ip[NET_IP_TEXT];
	const struct store_type *pod_type, *event_type, *node_type;
	struct watch watches[RUNNER_WATCHES];
	struct watch *job_watches; /* one for each kind; without a watch while there is no definition */
	struct news *news;
	size_t n_news, cap_news;
	struct map pods, units, services, by_wd;
	struct map jobs; /* UIDs of those that exist */
	struct run_pod *first_pod, *last_pod;
	struct unit *first_unit, *last_unit;
	struct host_service *first_service, *last_service;
	int inotify;
	struct loop_fd *inotify_watch;
	size_t living;
	bool adopting;   /* the first look */
	bool stepping;   /* no need to be woken */
	bool fit_due;    /* who may start */
	bool hosts_due;  /* names have changed */
	bool config_due; /* a ConfigMap or a Secret has changed */
	bool types_due;  /* a definition has come */
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

static inline yyjson_val *pod_object(const struct run_pod *p)
{
	return yyjson_doc_get_root(p->object);
}

/* --- call.c: the store, by the shortest way. Each returns HTTP's code. */
int store_ask(struct runner *r, const struct store_request *q, struct store_answer *ret);
/* A merge patch of the pod or of its status. */
int store_patch_pod(struct runner *r, const struct run_pod *p, bool status, struct str body);
/* The object as a tree, which the caller frees; NULL: there is none. */
yyjson_doc *store_read(struct runner *r, const struct store_type *t, struct str ns, struct str name);

/* A document of its own with {KEY: PART}, and nothing else of where PART comes from. */
yyjson_doc *doc_of_part(const char *key, yyjson_val *part);

/* --- watch.c */
bool watch_start(struct runner *r, struct err *e);
/* For kinds whose definitions have come. */
void watch_jobs(struct runner *r);
void watch_stop(struct runner *r);
/* Takes what the watches have recorded. */
void watch_take(struct runner *r);

/* --- pods.c: the table of pods. */
struct run_pod *pods_add(struct runner *r, struct str uid, struct str ns, struct str name);
/* OBJECT becomes the pod's. */
void pods_take(struct runner *r, yyjson_doc *object, enum store_change change);
void pods_drop(struct runner *r, struct run_pod *p);
/* Nothing is done with it any more but removing it: most of what is known of it is forgotten. */
void pods_slim(struct run_pod *p);
/* In the order of their creation: the next of the same list. */
void pods_set_stage(struct runner *r, struct run_pod *p, enum stage s);
bool pods_is_deleting(const struct run_pod *p);

/* --- units.c: jobs, as far as admission cares. */
struct unit *units_of(struct runner *r, yyjson_val *pod);
void units_take_job(struct runner *r, yyjson_doc *job, enum store_change change);
/* Counts anew, and forgets those that nobody needs. */
void units_count(struct runner *r);
/* What it wants or holds now. */
struct amount units_want(const struct unit *u);
void units_free(struct runner *r, struct unit *u);

/* --- admit.c */
void admit(struct runner *r);
/* For a pod that was bound by somebody else: GPUs, and the note of them. */
bool admit_gpus(struct runner *r, struct run_pod *p);

/* --- start.c: pods that are bound, as many as a round has time for. */
void start_some(struct runner *r);
/* The parent process is PID: from now on its end and its state are watched. */
void start_attach(struct runner *r, struct run_pod *p, pid_t pid);
void start_watch_folder(struct runner *r, struct run_pod *p);

/* --- spec.c: what a pod's object is as a spec. True: it can be prepared. DOCS begins empty, and must live as long as
   RET. */
struct spec_docs {
	VEC(yyjson_doc *) all;
};
bool spec_make(struct runner *r, struct run_pod *p, struct pod_spec *ret, struct spec_docs *docs,
               struct pod_refusal *why, struct err *e);
void spec_docs_release(struct spec_docs *docs);
/* On the machine's own network every port is there once. */
bool spec_take_ports(struct runner *r, struct run_pod *p, struct err *e);

/* --- board.c: TensorBoard, which listens on the machine's loopback. */
bool board_is(const struct run_pod *p);
/* Does the pod live on the machine's own network? */
bool board_on_host(const struct run_pod *p);
/* Changes what was made of its object into what runs here, and writes its address into its annotations. As
   spec_make(). */
bool board_make(struct runner *r, struct run_pod *p, struct pod_spec *spec, struct pod_refusal *why, struct err *e);
/* The port that one who runs already has. */
void board_take(struct run_pod *p);
/* … is free again. */
void board_release(struct run_pod *p);

/* --- hosts.c */
void hosts_take_service(struct runner *r, yyjson_doc *object, enum store_change change);
bool hosts_update(struct runner *r, struct err *e);
void hosts_free(struct runner *r);

/* --- process.c: news of the processes. */
bool process_open(struct runner *r, struct err *e);
void process_close(struct runner *r);
/* The pod is watched no more. */
void process_forget(struct runner *r, struct run_pod *p);
/* The parent has ended, or is to be ended: clears up, the pod has ended. */
void process_over(struct runner *r, struct run_pod *p);

/* --- status.c */
/* What state.json says goes into the store, and into events. */
void status_write(struct runner *r, struct run_pod *p);
/* It failed for a reason of ours: nothing of it will run. */
void status_fail(struct runner *r, struct run_pod *p, const char *reason, struct str message);
/* It waits: for room (PodScheduled is False) … */
void status_unschedulable(struct runner *r, struct run_pod *p, struct str message);
/* … or one of its containers (empty: all) for something. */
void status_waiting(struct runner *r, struct run_pod *p, struct str container, const char *reason, struct str message);

/* --- stop.c: what is to end: deleted, gone, or all. */
void stop_some(struct runner *r, struct run_pod *p);
/* Without a process, and its object is deleted or gone: everything of it goes. P may be freed. */
void stop_remove(struct runner *r, struct run_pod *p);

/* --- kept.c: logs of pods that are gone. */
/* JOB/NAMESPACE/POD below FOLDER/logs, in ROUND; empty: they are not kept. */
struct str kept_place(struct runner *r, const struct run_pod *p);
/* Removes the pod's folder, after its logs have found their place. */
bool kept_remove_pod(struct runner *r, const struct run_pod *p, struct err *e);
void kept_take_job(struct runner *r, yyjson_val *job, enum store_change change);
/* What belongs to no job goes, as much as a step has time for. */
void kept_prune(struct runner *r);
void kept_free(struct runner *r);

/* --- adopt.c: what runs already. */
bool adopt_all(struct runner *r, struct err *e);

/* --- events.c: what people would ask about. SUB tells several of one reason apart (a container); may be empty. */
enum event_type { EVENT_NORMAL, EVENT_WARNING };
void event_say(struct runner *r, const struct run_pod *p, enum event_type type, const char *reason, struct str sub,
               const char *fmt, ...) PRINTF_LIKE(6, 7);

/* --- node.c */
bool node_make(struct runner *r, struct err *e);
/* An address of this machine that pods may know it by. */
void node_ip(char ret[NET_IP_TEXT]);

#endif
