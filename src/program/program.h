/* dl-operator as a program: everything that it holds, and its one step. Callbacks only record and ask for a
   step; the step decides. */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include "http/server.h"
#include "kube/kube.h"
#include "operator/crds.h"
#include "operator/events.h"
#include "operator/lease.h"
#include "operator/metrics.h"
#include "program/flags.h"

enum program_state {
	PROGRAM_STARTING, /* CRDs are looked at */
	PROGRAM_SERVING,
	PROGRAM_RELOADING, /* it begins anew: what is in flight is awaited, then it starts */
	PROGRAM_ENDING,    /* what is in flight is awaited */
	PROGRAM_RELEASING  /* the lease is given away, CRDs go */
};

struct program_call;

/* A listener, and what it answers to. */
struct program_web {
	struct program *program;
	struct http_listener *listener;
	bool metrics, probes;
};

struct program {
	const struct operator_flags *flags;
	bool only_crds; /* install-crds */
	struct arena arena;
	struct loop *loop;
	struct loop_timer *timer; /* of the next step */
	struct loop_signal *signals[2];
	struct kube_config config;
	struct kube_options options;
	struct kube *kube;
	struct kinds *kinds;  /* chosen by the flags */
	struct kinds *served; /* … whose CRDs do */
	struct crd **crds;    /* one for each of KINDS */
	char **crd_said;      /* the last trouble that was logged of each */
	size_t n_crds;
	struct lease *lease; /* NULL: no election */
	bool led;            /* as it was logged */
	struct operator_loop *op;
	struct metrics *metrics;
	struct events *events;
	struct str identity;
	struct program_web webs[2];
	struct program_call *calls; /* not answered yet */
	enum program_state state;
	msec deadline;     /* RELOADING, ENDING, RELEASING: no longer than this */
	struct crd **made; /* CRDs that were made before the kinds changed */
	size_t n_made, undoing;
	/* Of --kinds-dir. */
	struct loop_watch **watches;
	uint64_t kinds_hash;
	struct kinds *next_kinds; /* RELOADING: the ones to come */
	/* Of --controller-config-file. */
	struct loop_watch *config_watch;
	uint64_t config_hash;
	struct accelerators *accelerators, *next_accelerators; /* NULL: none */
	char *held;   /* STARTING in a pod: why the file cannot be taken, and nothing is served; NULL: it can */
	msec look_at; /* something in the folders has changed: look then; NEVER: nothing has */
	bool reloaded;
	bool went_back; /* an older state of the cluster was put back: begin anew */
	struct {
		uint64_t hash;
		msec at;
	} said[64]; /* troubles that were logged */
	int status; /* to exit with */
};

/* Runs until a signal ends it, or (only_crds) the CRDs are done. Returns the exit status. */
int program_run(const struct operator_flags *f, bool only_crds);

/* Is this trouble worth a line: was it not logged within the last minute? */
bool program_news(struct program *p, const char *trouble);

/* A step soon. */
void program_wake(struct program *p);

/* calls.c: sends; the answer goes to whoever asked. */
void program_call_lease(struct program *p, const struct api_call *call);
void program_call_crd(struct program *p, struct crd *crd, const struct api_call *call);
void program_call_undo(struct program *p, const struct api_call *call);
void program_call_event(struct program *p, uint64_t id, const struct api_call *call);
void program_calls_drop(struct program *p);

/* accelerators.c: the file of --controller-config-file, if there is one. ON_CHANGE is called when it may have
   changed. False if it cannot be taken; in a pod it is true, and the program is held. */
bool program_open_accelerators(struct program *p, loop_watch_fn on_change, struct err *e);
/* Is it held still? Looks at the file if it has changed; *NEXT is when to come back. */
bool program_held(struct program *p, msec *next);
/* Reads it again. True: next_accelerators are others; what is wrong is logged, and nothing changes. */
bool program_accelerators_changed(struct program *p);
/* The next ones take their place. No job that was read with the old ones may be left. */
void program_swap_accelerators(struct program *p);
void program_close_accelerators(struct program *p);

/* reload.c */
bool program_watch_files(struct program *p, struct err *e);
void program_unwatch_files(struct program *p);
/* Looks at kinds and accelerators if it is time; when to come back. */
msec program_look_at_files(struct program *p);
/* RELOADING: starts anew once nothing is in flight. */
msec program_reload(struct program *p);

/* crds.c */
void program_open_crds(struct program *p);
/* KEEP: those that this process made are remembered. */
void program_close_crds(struct program *p, bool keep);
/* True once it is known of each CRD whether it does; *NEXT is when to come back, NEVER if an answer will
   wake us. */
bool program_step_crds(struct program *p, msec *next);
/* For operator_kinds_load(): does the kind's CRD do? */
bool program_serves(void *cookie, const struct kind *k);
/* Deletes those that this process made, if it was told so. */
void program_undo_crds(struct program *p);

/* web.c: opens the listeners. */
bool program_web_open(struct program *p, struct err *e);
void program_web_close(struct program *p);
/* Why it is not ready; NULL: it is. */
const char *program_unready(const struct program *p);
bool program_leads(const struct program *p);

#endif
