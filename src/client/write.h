/* A manifest from a command line: what `dljob run -n 3 -- COMMAND` runs, its -o yaml prints, and `dljob init` explains.
 */
#ifndef CLIENT_WRITE_H
#define CLIENT_WRITE_H

#include "client/cli.h"
#include "client/edit.h"

struct write_options {
	const char *replicas, *gpus; /* -n and --gpus, as they were given; NULL: not at all */
	const char *roles;           /* ps=1,worker=3 */
	const char *kind, *name, *image;
	bool cluster; /* for a cluster too, not for this very run */
	int n_command;
	char **command;
};

enum { WRITE_OPTS = 6 };
void write_opts(struct opt ret[static WRITE_OPTS], struct write_options *o);
/* The first option of them that was given, for messages; NULL: none. */
const char *write_given(const struct write_options *o);
/* The GPUs of one replica; a wrong text counts as none, write_job() refuses it. */
int64_t write_gpus(const struct write_options *o);

/* The job, edited and checked; *KJ is what it was read as, to be freed first; KJ may be NULL. NULL: it was said what is
   wrong, return cli->status. What is missing for a cluster is warned of. */
yyjson_doc *write_job(struct cli *cli, struct kinds *kinds, const struct write_options *o,
                      const struct job_edits *edits, struct kind_job **kj);

/* The job as YAML with a comment on what people change. Appended to OUT. */
void write_explained(yyjson_val *job, struct buf *out);

/* TEXT as an argument that reaches the program unchanged: Kubernetes expands $(NAME) in it, and makes one $ of $$. */
struct str write_escaped(struct arena *a, struct str text);

#endif
