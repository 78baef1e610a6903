/* A job that a kind has written: whose mistake is what is wrong with it? */
#ifndef CLIENT_WRITE_CHECK_H
#define CLIENT_WRITE_CHECK_H

#include "client/write.h"

struct role_list {
	VEC(struct kind_role) all;
};

/* One job that is written. */
struct writing {
	struct cli *cli;
	struct kinds *kinds;
	const struct write_options *options;
	const struct kind *kind;
	struct role_list roles;
};

/* The kind's own job in *DOC becomes the edited one. What that was read as, to be freed before it; NULL: it was said
   what is wrong, and *DOC may be NULL. */
struct kind_job *write_check(struct writing *w, const struct job_edits *edits, yyjson_doc **doc);

#endif
