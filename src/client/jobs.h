/* Jobs of a cluster by the names that people give them. */
#ifndef CLIENT_JOBS_H
#define CLIENT_JOBS_H

#include "client/remote.h"

/* What every command that speaks to a cluster has. */
struct cli_session {
	struct cli *cli;
	struct kinds *kinds;
	struct remote remote;
	struct remote_flags flags;
};
/* Loads the kinds and finds the cluster, see remote_open(). False: return cli->status, after session_end(). */
bool session_begin(struct cli_session *s, bool silent);
/* discover.c: adds the kinds of the cluster that have no Lua here. False: return cli->status. */
bool session_discover(struct cli_session *s);
/* Both. */
bool session_find(struct cli_session *s, bool silent);
void session_end(struct cli_session *s);

/* Which kinds are meant, in the cli's arena; all if N is 0. NULL, with the error said, if a name fits none. */
const bool *kinds_choose(struct cli *cli, const struct kinds *kinds, int n, char **names);
/* How a kind is called in a table: TfJob, or MXJob.mpba.fbk.eu where several have that name. */
struct str kind_title(const struct kinds *kinds, const struct kind *k);

struct job_of {
	const struct kind *kind;
	yyjson_val *root;
};

struct job_query {
	const bool *kinds;   /* NULL: all */
	struct str ns;       /* empty: all */
	struct str selector; /* -l */
};

struct job_list {
	VEC(struct job_of) jobs;
	struct remote_list *lists; /* one for each kind, in its order */
	bool *served;              /* does the cluster know the kind? */
	size_t n;
	bool partial; /* some kinds cannot be seen, which was said */
};

/* All jobs that fit; kinds that the cluster does not know have none. False: it was said why; return cli->status. */
bool jobs_list(struct remote *r, const struct kinds *kinds, const struct job_query *q, struct job_list *ret);
void job_list_release(struct job_list *l);

/* One job, by NAME or KIND/NAME, in the namespace of the remote. False: it was said why (there is none, there are
   several …); return cli->status. */
struct job_found {
	struct job_of job;
	struct str ns, name;
	struct remote_call call;
};
bool job_find(struct remote *r, const struct kinds *kinds, const char *text, struct job_found *ret);
void job_found_release(struct job_found *f);
/* The path of its object. */
struct str job_path(struct remote *r, const struct job_found *f);

/* NAME or KIND/NAME taken apart: which kinds it may be. False, with the error said. */
struct job_name {
	const bool *kinds;
	struct str name;
};
bool job_name_read(struct cli *cli, const struct kinds *kinds, const char *text, struct job_name *ret);

#endif
