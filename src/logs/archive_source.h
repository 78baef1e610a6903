/* The log of one container on its way into its file. */
#ifndef LOGS_ARCHIVE_SOURCE_H
#define LOGS_ARCHIVE_SOURCE_H

#include "base/map.h"
#include "logs/archive.h"
#include "logs/archive_file.h"

enum source_state {
	SOURCE_WAITS,  /* for its turn */
	SOURCE_ASKS,   /* whether the pod of this name is still the same */
	SOURCE_READS,  /* its log comes */
	SOURCE_SLEEPS, /* until it is tried again */
	SOURCE_DONE,   /* all of it is there, or there is nothing more to be had */
	SOURCE_STATES,
};

/* What its sources know of, and count in. */
struct archive_sources {
	struct cli_session *session;
	const struct archive_options *o;
	struct archive_source *first, *last;
	struct map by_key;
	size_t n[SOURCE_STATES];
	size_t n_kept;         /* logs that are there to their end, or (without `follow`) as far as they go */
	uint64_t written;      /* bytes */
	enum exit_code status; /* not ok: the server lets nobody read */
	bool some_read;        /* one log at least could be */
	bool some_failed;
	msec written_at; /* last, of a container that has ended; 0: never */
};

struct archive_source {
	struct archive_sources *all;
	enum source_state state;
	struct str key; /* UID of the pod, container; its strings are in the arena */
	struct str uid, ns, pod, container;
	struct str path; /* below the archive's folder … */
	size_t run;      /* … of which so much is the job's folder */
	int64_t restarts;
	bool running;    /* as far as is known */
	bool pod_gone;   /* goes when it is done */
	uint64_t seen;   /* the list in which it was last */
	msec told_at;    /* when its pod was known to be there */
	bool to_the_end; /* the stream was opened after the container's end */
	bool got;        /* something came of it … */
	bool unwritten;  /* … and could not be kept */
	bool refused;    /* it was said that reading its log is forbidden */
	int tries;
	msec delay;
	struct archive_file file;
	struct kube_stream *stream;
	struct buf answer;
	struct loop_timer *timer;
	struct archive_source *prev, *next;
	struct arena arena;
};

/* KEY and NAME are copied. NULL: it cannot be the name of a file. */
struct archive_source *source_new(struct archive_sources *all, struct str key, struct str uid, struct str pod,
                                  const struct archive_name *name);
/* What its pod says of the container. */
void source_told(struct archive_source *s, bool running, int64_t restarts);
/* Its pod is gone; S may be, too. */
void source_pod_gone(struct archive_source *s);
void source_free(struct archive_source *s);
/* Opens as many as may be. */
void sources_pump(struct archive_sources *all);
static inline size_t sources_left(const struct archive_sources *all)
{
	return all->n[SOURCE_WAITS] + all->n[SOURCE_ASKS] + all->n[SOURCE_READS] + all->n[SOURCE_SLEEPS];
}

#endif
