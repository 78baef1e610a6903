/* What the files of the operator share. */
#ifndef OPERATOR_INTERNAL_H
#define OPERATOR_INTERNAL_H

#include "operator/cache.h"
#include "operator/operator.h"
#include "operator/requests.h"

struct op {
	struct cluster *cluster;
	struct kinds *kinds;
	const struct clock *clock;
	struct operator_config config;
	struct cache cache;
	struct queue queue;
	struct requests requests;
	struct arena arena; /* of one pass */
	struct buf body;
	msec now;                                  /* of this step */
	struct cached_job *open_first, *open_last; /* jobs that are kept as trees, the last used first */
	size_t n_open;
	struct cached_job *creating; /* jobs with creates that wait for their turn */
	bool created;                /* what changes now is what we have just made */
	char *groups_trouble;        /* why there can be no PodGroups; NULL: there can */
};

/* open.c: makes a tree of the job, and text of those that were not looked at for long. */
void open_job(struct op *op, struct cached_job *job);
/* It goes. */
void open_forget(struct op *op, struct cached_job *job);

/* gather.c: the cache → what the plan wants to know. */
enum gathered {
	GATHERED,
	GATHER_ASK,   /* first a GET must tell what is there: it was sent */
	GATHER_LEAVE, /* this job is left alone */
};
enum gathered gather(struct op *op, struct cached_job *job, struct plan_input *ret);
/* The same of what is known already, nobody is asked. False: it is left alone. */
bool gather_known(struct op *op, struct cached_job *job, struct plan_input *ret);

/* ask.c: sends a GET for what is doubted, and for what the record saw and we did not. False: nothing to ask. */
bool ask_doubted(struct op *op, struct cached_job *job, const struct children *ch);
bool ask_missing(struct op *op, struct cached_job *job, const struct children *ch);

/* apply.c: the plan → requests. False if there was nothing to send. */
bool apply(struct op *op, struct cached_job *job, const struct plan_input *in, const struct plan *plan);
/* Puts our labels on a child that lost them, or never had them. */
void apply_adopt(struct op *op, const struct pending *p, const struct meta *found);

/* creates.c: sends the plan's creates of that type, as many at once as go well. False: none could be sent. */
bool creates_begin(struct op *op, struct cached_job *job, const struct plan *plan, enum action_type stage);
/* A child cannot even be built: as if the server had refused it. E is released. */
void creates_unbuildable(struct op *op, struct cached_job *job, bool aux, struct err *e);
/* One of them was answered. */
void creates_answered(struct op *op, struct cached_job *job, bool good);
/* Sends the next ones, of all jobs. */
void creates_go_on(struct op *op);
/* No more of them are sent. */
void creates_drop(struct op *op, struct cached_job *job);

/* groups.c: makes or changes the job's PodGroup. False: it could not be sent. */
bool groups_write(struct op *op, struct cached_job *job, const struct action *a);
/* The answer to that. */
void groups_answered(struct op *op, const struct pending *p, const struct outcome *o);
/* They can be listed. */
void groups_listed(struct op *op);

/* outcome.c: an answer → the cache, refusals and back-offs. */
void outcome_take(struct op *op, const struct outcome *o);
/* No answer that says anything: try again, later each time. */
void outcome_failed(struct cached_job *job, const struct outcome *o);
/* The server does not take what the job needs. */
void outcome_refused(struct op *op, const struct pending *p, enum refusal_kind kind, struct str message);

/* observe.c */
void observe_pass(struct op *op, struct cached_job *job, bool failed, bool later);
void observe_answer(struct op *op, const struct pending *p, const struct outcome *o);
void observe_record(struct op *op, struct cached_job *job);
void observe_left(struct op *op, struct cached_job *job, const char *why);
void observe_taken(struct op *op, struct cached_job *job, struct str whose);
/* A job that has not begun chose a scheduler that knows nothing of gangs. */
void observe_schedulers(struct op *op, struct cached_job *job);

/* operator.c: looks at the job again, once nothing of it is in flight. */
void operator_look(struct op *op, struct cached_job *job, enum urgency urgency);

#endif
