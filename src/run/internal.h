/* dljob run: everything that it holds. Callbacks of the store only record; the step in run.c does the rest. */
#ifndef RUN_INTERNAL_H
#define RUN_INTERNAL_H

#include "base/map.h"
#include "job/record.h"
#include "logs/logline.h"
#include "run/given.h"
#include "run/run.h"

/* --kill ROLE/INDEX@SECONDS */
struct run_kill {
	const char *text; /* as it was given */
	struct str role;
	int64_t index;
	msec after; /* since the replica began to run */
	msec at;    /* of the loop; 0: it does not run yet */
	bool done;
};

/* What is to run: one job, and what it needs. Read before anything is started. */
struct run_input {
	yyjson_doc *doc; /* of the job, edited */
	yyjson_val *job;
	const struct kind *kind;
	struct kind_job *kj; /* the job, read; until the cluster begins to */
	struct str ns, name;
	const char *file;
	VEC(struct str) others; /* ConfigMaps and the like, as JSON */
	VEC(struct str) roles;
	int64_t grace;       /* seconds that its replicas may take to end */
	VEC(int32_t) counts; /* of the roles */
	struct str without;  /* of the first file that has no job: what is in it */
};

struct run_pod;

enum run_end {
	RUN_GOES_ON,
	RUN_FINISHED, /* by itself: the record says how */
	RUN_TIMED_OUT,
	RUN_INTERRUPTED,
	RUN_UNREAD, /* nobody reads its output any more */
	RUN_BROKEN, /* of our own making */
};

struct run {
	struct cli *cli;
	const struct run_options *options;
	struct run_input input;
	struct given given;
	struct kinds *kinds;
	struct machine machine;
	struct run_kill *kills;
	size_t n_kills;
	struct loop *loop;
	struct loop_timer *timer, *deadline;
	struct loop_signal *signals[3];
	struct embedded *em;
	char *folder;
	int lock; /* of the folder */
	struct store_watch *watches[2];

	/* What the store said last. */
	struct arena arenas[2]; /* of the record, in turn */
	struct record *record;
	int turn;
	bool told;       /* there is a record that was not shown yet */
	struct map pods; /* uid → struct run_pod */

	struct map notes; /* of pods, that were told */

	struct logline_printer logs;
	bool live;                           /* a line at the end of the terminal shows the state */
	bool drawn;                          /* … and stands there now */
	uint64_t said;                       /* hash of the last line about the state */
	uint64_t addresses[COMPANION_COUNT]; /* … and of those of the companions that were told last; 0: none */
	msec began, ended;
	enum run_end end;
	int stops;          /* how often we were told to stop */
	struct str message; /* BROKEN */
};

/* input.c: reads and checks the files. False: it was said what is wrong, return cli->status. */
bool run_read(struct run *r, int n, char **files);
/* What the other options want to know of the job that was read. */
void run_take_job(struct run *r);
/* Nobody asks any more what was read. */
void run_input_read_end(struct run_input *in);
void run_input_release(struct run_input *in);
/* command.c: the job is written for a command. As run_read(). */
bool run_read_command(struct run *r);
/* The caller's environment, for a command. */
const char *const *run_command_env(struct run *r);
/* Once the network is there: where there are no names the first replica is found on the loopback. */
bool run_command_meet(struct run *r, struct err *e);
/* What the command does not get is told. */
void run_command_notes(struct run *r);

/* check.c: can each role's pods run on this machine at all? As run_read(). */
bool run_check(struct run *r);
/* Where all replicas share one network, which is known once it is there: do two of them want the same port? */
bool run_check_ports(struct run *r, struct err *e);

/* folder.c: makes `folder`, after it has cleared up what killed runs have left. False: it was said why. */
bool run_folder_make(struct run *r);
/* Removes it, or says where it is. */
void run_folder_end(struct run *r);
void run_folder_release(struct run *r);

/* watch.c: puts the objects into the store, and sees what becomes of them. */
bool run_submit(struct run *r, struct err *e);

void run_watch_release(struct run *r);

/* logs.c */
struct run_pod *run_pod_new(struct run *r, yyjson_val *pod);
/* It is gone: what it wrote is still printed. */
void run_pod_free(struct run *r, struct run_pod *p);
void run_pod_running(struct run *r, struct run_pod *p);
/* The folder has changed: what is in it is read before it can go. */
void run_pod_changed(struct run *r, struct str uid);
/* Prints what was written since the last time, by time. False: there is more, for the next time; signals and deadlines
   come first. */
bool run_logs(struct run *r);

/* notes.c: FOLDER is the pod's. */
void run_notes(struct run *r, const char *folder, struct str who);

/* kill.c */
bool run_kills_parse(struct run *r);
/* Looks for what is due. When the next one is: a delay, NEVER if none. */
msec run_kills(struct run *r);
void run_kills_pod_runs(struct run *r, struct str role, int32_t index);
/* Those that had no effect are told. */
void run_kills_end(struct run *r);
/* The folder of the newest pod of that replica; false: there is none. */
bool run_pod_folder(struct run *r, struct str role, int64_t index, struct buf *ret);

/* show.c: for people, on standard error. */
void run_say(struct run *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The state, if it has changed: a line, or the last line of the terminal again. */
void run_show(struct run *r);
/* Takes the last line away, so that something else can be written. */
void run_hide(struct run *r);
void run_show_end(struct run *r, enum exit_code status);

#endif
