/* dl-operator as a program: everything that it holds, and its one step. Callbacks only record and ask for a
   step; the step decides. */
#ifndef CLI_OPERATOR_PROGRAM_H
#define CLI_OPERATOR_PROGRAM_H

#include "cli/operator_flags.h"
#include "http/server.h"
#include "kube/kube.h"
#include "operator/crds.h"
#include "operator/events.h"
#include "operator/lease.h"
#include "operator/metrics.h"

enum program_state {
	PROGRAM_STARTING, /* definitions are looked at */
	PROGRAM_SERVING,
	PROGRAM_ENDING,   /* what is in flight is awaited */
	PROGRAM_RELEASING /* the lease is given away, definitions go */
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
	struct kube *kube;
	struct kinds *kinds;  /* chosen by the flags */
	struct kinds *served; /* … whose definitions do */
	struct crd **crds;    /* one for each of KINDS */
	char **crd_said;      /* the last trouble that was logged of each */
	size_t n_crds;
	struct lease *lease; /* NULL: no election */
	bool led;            /* as it was logged */
	struct op *op;
	struct metrics *metrics;
	struct events *events;
	struct str identity;
	struct program_web webs[2];
	struct program_call *calls; /* not answered yet */
	enum program_state state;
	msec deadline; /* ENDING, RELEASING: no longer than this */
	size_t undoing;
	struct str trouble; /* the last one that was logged, and when */
	msec trouble_at;
	char trouble_text[512];
	int status; /* to exit with */
};

/* Runs until a signal ends it, or (only_crds) the definitions are done. Returns the exit status. */
int program_run(const struct operator_flags *f, bool only_crds);

/* A step soon. */
void program_wake(struct program *p);

/* operator_calls.c: sends; the answer goes to whoever asked. */
void program_call_lease(struct program *p, const struct api_call *call);
void program_call_crd(struct program *p, struct crd *crd, const struct api_call *call);
void program_call_undo(struct program *p, const struct api_call *call);
void program_call_event(struct program *p, uint64_t id, const struct api_call *call);
void program_calls_drop(struct program *p);
/* A request of ours must not outlive the lease that allowed it. */
msec program_timeout(const struct operator_flags *f);

/* operator_web.c: opens the listeners. */
bool program_web_open(struct program *p, struct err *e);
void program_web_close(struct program *p);
/* Why it is not ready; NULL: it is. */
const char *program_unready(const struct program *p);
bool program_leads(const struct program *p);

#endif
