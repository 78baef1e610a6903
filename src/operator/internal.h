/* What the files of the operator share. */
#ifndef OPERATOR_INTERNAL_H
#define OPERATOR_INTERNAL_H

#include "operator/cache.h"
#include "operator/operator.h"
#include "operator/requests.h"
#include "operator/sole.h"

struct operator_loop {
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
	struct child_wishes *creating; /* of the jobs with creates that wait for their turn */
	struct name_taken *taken;      /* names that jobs wait for */
	bool creates_turn;             /* it is theirs, and then the queue's */
	bool created;                  /* what changes now is what we have just made */
	struct trouble *troubles;      /* lists that cannot be had */
	struct map skipped;            /* objects that were not read, and that people were told of */
	size_t n_skipped[RES_COUNT];
	bool skipped_more; /* … and of those that are too many */
};

/* open.c: makes a tree of the job, and text of those that were not looked at for long. */
void open_job(struct operator_loop *op, struct cached_job *job);
/* The job leaves the cache. */
void open_forget(struct operator_loop *op, struct cached_job *job);

/* gather.c: the cache → what the plan wants to know. */
enum gather_result {
	GATHER_DONE,
	GATHER_ASK,   /* first GETs must tell what is there: they were sent */
	GATHER_LATER, /* … and are sent again after a back-off */
	GATHER_LEAVE, /* this job is left alone */
};
enum gather_result gather(struct operator_loop *op, struct cached_job *job, struct plan_input *ret);
/* The same of what is known already, nobody is asked. False: it is left alone. */
bool gather_known(struct operator_loop *op, struct cached_job *job, struct plan_input *ret);

/* ask.c: sends GETs for what is doubted, as many as there is room for. False: nothing is. */
bool ask_doubted(struct operator_loop *op, struct cached_job *job, const struct children *ch);
/* The same for pods that the record saw and we did not. What was answered is not asked again in that generation. */
enum gather_result ask_missing(struct operator_loop *op, struct cached_job *job, const struct children *ch);
/* Such a question was answered; it was not. */
void ask_answered(struct cached_job *job, const struct request_sent *p);
/* What became of a create is not known, since the question got no answer either: it is asked again before anything else
   is planned. Takes P's strings. */
void ask_again(struct cached_job *job, struct request_sent *p);
void ask_failed(struct cached_job *job, const struct request_sent *p);
/* All of a page are: did every question fail? */
bool ask_page_failed(struct cached_job *job);

/* taken.c: what FOUND is has the name of a child, and R was refused for it. WATCHED: a watch shows its end. */
void taken_note(struct operator_loop *op, const struct request_sent *p, struct child_refused *r,
                const struct meta *found, bool watched);
/* Nothing stands under that name any more: whoever waits for it goes on. */
void taken_left(struct operator_loop *op, enum resource resource, struct str ns, struct str name);
/* The job has found that nobody else has the name of that child: it does not wait for it. */
void taken_not(struct operator_loop *op, const struct request_sent *p);
/* Sends a GET for a name that the job waits for, if it is time to. False: it is not. */
bool taken_ask(struct operator_loop *op, struct cached_job *job);
/* It waits for none any more. */
void taken_forget(struct operator_loop *op, struct cached_job *job);

/* apply.c: the plan → requests. False if there was nothing to send. */
bool apply_plan(struct operator_loop *op, struct cached_job *job, const struct plan_input *in, const struct plan *plan);
/* Puts our labels on a child that lost them, or never had them. */
void apply_adopt(struct operator_loop *op, const struct request_sent *p, const struct meta *found);

/* creates.c: sends the plan's creates of that type, as many at once as succeed. False: none could be sent. */
bool creates_begin(struct operator_loop *op, struct cached_job *job, const struct plan *plan, enum resource resource);
/* A child of that role cannot even be built: it is tried again, as what the server refuses. E is released. */
void creates_unbuildable(struct operator_loop *op, struct cached_job *job, enum resource r, struct str role,
                         struct err *e);
/* One of them was answered. */
void creates_answered(struct operator_loop *op, struct cached_job *job, bool good);
/* Drops the lists that are out of date. */
void creates_prune(struct operator_loop *op);
/* Sends one of those that wait, of the job that has the fewest of them in flight. False: there is none, or no room. */
bool creates_next(struct operator_loop *op);
/* No more of them are sent. */
void creates_drop(struct operator_loop *op, struct cached_job *job);
/* One of that sort and role was refused: no more of these are sent, and of the rest one first. */
void creates_skip(struct operator_loop *op, struct cached_job *job, enum resource r, struct str role);

/* sole.c: does the operator make such children of which a job has one? */
bool sole_is_used(const struct operator_loop *op, enum resource r);
/* Makes or changes one. False: it could not be sent. */
bool sole_write(struct operator_loop *op, struct cached_job *job, const struct action *a);
/* The answer to that. */
void sole_answered(struct operator_loop *op, const struct request_sent *p, const struct outcome *o);

/* trouble.c: why it cannot be listed; empty: it can, or nobody knows yet. */
struct str trouble_of(const struct operator_loop *op, enum resource r, struct str kind);
/* It was listed. FIRST: for the first time. */
void trouble_listed(struct operator_loop *op, enum resource r, struct str kind, bool first);
void trouble_release(struct operator_loop *op);

/* skipped.c: remembers which objects are not read, logs those that are new. */
void skipped_event(struct operator_loop *op, const struct cluster_event *ev);
/* Tells the observer of those that name this job. */
void skipped_tell(struct operator_loop *op, struct cached_job *job);
/* For people. */
const char *skipped_why(bool large);
void skipped_release(struct operator_loop *op);

/* outcome.c: an answer → the cache, refusals and back-offs. */
void outcome_take(struct operator_loop *op, const struct outcome *o);
/* No answer that says anything: try again, later each time. */
void outcome_failed(struct cached_job *job, const struct outcome *o);
/* The server does not take the job's status (CODE), or it is too long to be sent (0). DURABLE: it says what must be
   remembered. */
void outcome_status_refused(struct operator_loop *op, struct cached_job *job, int code, bool durable,
                            struct str message);

/* refused.c: a child of the job was not made. */
struct child_refused *refused_take(struct operator_loop *op, struct cached_job *job, enum resource what,
                                   struct str role, enum refusal_kind kind, struct str message);
/* … and now one of that sort and role is: what was said before does not count any more. */
void refused_made(struct cached_job *job, enum resource what, struct str role);
/* Was any, among the answers since the last pass? */
bool refused_any(const struct cached_job *job);
/* All answers of the pass are there. */
void refused_settle(struct cached_job *job);
/* If it was for the name, that is free now. */
void refused_free_name(struct child_refused *r);
/* What was said to children of that sort and role; NULL: nothing ever was. */
struct child_refused *refused_find(const struct cached_job *job, enum resource what, struct str role);
/* For the plan; returns how many there are. */
size_t refused_list(const struct cached_job *job, struct arena *a, const struct refusal **ret);
/* The plan says of each of that list: nothing of what was refused is missing any more. */
void refused_passed(struct cached_job *job, const bool *passed);
/* The job was edited: everything is tried anew. */
void refused_forget(struct cached_job *job);
/* Is that a role which does not count? The job goes on without its children. */
bool refused_is_aux(const struct cached_job *job, struct str role_name);

/* observe.c */
void observe_pass(struct operator_loop *op, struct cached_job *job, bool failed, bool later);
void observe_answer(struct operator_loop *op, const struct request_sent *p, const struct outcome *o);
void observe_record(struct operator_loop *op, struct cached_job *job);
void observe_left(struct operator_loop *op, struct cached_job *job, const char *why);
void observe_taken(struct operator_loop *op, struct cached_job *job, struct str whose);
void observe_status_refused(struct operator_loop *op, struct cached_job *job, struct str message);
/* A child, or the job itself, is not read as it changes. */
void observe_unread(struct operator_loop *op, struct cached_job *job, enum resource r, struct str name, bool large);
/* The job was read anew: what its users see nowhere else. It has not begun, and chose a scheduler that knows nothing of
   gangs; or it has, and would be invalid otherwise. */
void observe_warnings(struct operator_loop *op, struct cached_job *job);

/* operator.c: it failed; looks at it again after its back-off or WAIT, but not later than its deadline. */
void operator_retry(struct operator_loop *op, struct cached_job *job, msec wait);
/* Looks at the job again, once nothing of it is in flight. */
void operator_look(struct operator_loop *op, struct cached_job *job, enum urgency urgency);

#endif
