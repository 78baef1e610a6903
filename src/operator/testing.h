/* A cluster for tests of the loop: it keeps what was sent, and says what the test says. */
#ifndef OPERATOR_TESTING_H
#define OPERATOR_TESTING_H

#include "base/json.h"
#include "operator/operator.h"

/* The job's. */
#define UID "11111111-2222-3333-4444-555555555555"

enum { MOST = 512 };

struct sent {
	struct request r;
	bool answered;
};

/* Keeps what was sent, and delivers one event at a time. */
struct operator_script {
	struct cluster cluster; /* first */
	struct arena arena;
	struct sent sent[MOST];
	size_t n_sent;
	struct cluster_event event;
	bool full;
	msec now;
	msec wake;
	struct kinds *kinds;
	struct operator_loop *op;
	yyjson_doc *doc;
	struct str status; /* of the job, as the server has it */
	int workers, rv;
	bool listens;     /* does not lead */
	bool tensorboard; /* the job has a TensorBoard */
	/* Of the job that the functions below speak of. */
	const char *name, *uid;
	const char *policy; /* spec.policy, JSON; NULL: none */
	const char *fields; /* more of its containers, each behind a comma; NULL: none */
};

/* For cmocka: *STATE is the script, with an operator and the kinds that are compiled in. */
int script_setup(void **state);
int script_teardown(void **state);

/* Another operator, with so many requests in flight at the most. */
void script_limit(struct operator_script *s, size_t requests_max);
/* Another operator, that knows TfJobs by this Lua. */
void script_kind(struct operator_script *s, const char *lua);
/* From now on it is about the job of that name, which has no status yet. Its UID is the name. */
void speak_of(struct operator_script *s, const char *name);
/* Calls the operator; delivers one event to it; an empty list of one resource, and of all. */
void run_step(struct operator_script *s);
void deliver(struct operator_script *s, struct cluster_event ev);
void list_one(struct operator_script *s, enum resource r);
void listed(struct operator_script *s);
/* A TfJob with one master. STATUS is JSON or empty; the object lives until the next call. */
struct job_object job_object(struct operator_script *s, const char *rv, const char *status, int workers);
void put_job(struct operator_script *s, const char *rv, const char *status, int workers);

/* What was sent and is not answered yet: the first of its sort, or NULL. */
struct sent *waiting(struct operator_script *s, enum verb verb, enum resource r);
size_t count_waiting(struct operator_script *s);
size_t count_waiting_creates(struct operator_script *s);
/* … of the present job's UID. */
size_t count_its_creates(struct operator_script *s);
void answer(struct operator_script *s, struct sent *t, struct outcome o);
void refuse(struct operator_script *s, struct sent *t, int code, const char *reason);
/* The server does what it was asked for, and answers with the object. */
void server_made(struct operator_script *s, struct sent *t, const char *uid);
void status_written(struct operator_script *s);
void status_written_if_any(struct operator_script *s);
/* … until nothing more is sent. */
void settle_all(struct operator_script *s);
/* One more request succeeds: of a child if there is one; false if there was none. */
bool next_made(struct operator_script *s);
/* … until a status write waits; NULL: none does. */
struct sent *next_status(struct operator_script *s);
/* Does operator_debug() say that of the job? */
bool debug_has(struct operator_script *s, const char *text);
/* Brings it to the first create of a pod. */
struct sent *first_pod(struct operator_script *s);
/* A pod that stands under that name. */
struct pod found_pod(const struct sent *t, const char *owner, const char *label);

#define SCRIPT_TEST(name) cmocka_unit_test_setup_teardown(name, script_setup, script_teardown)

#endif
