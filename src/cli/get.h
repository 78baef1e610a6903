/* What the files of dljob get share. */
#ifndef CLI_GET_H
#define CLI_GET_H

#include "cli/jobs.h"
#include "cli/tree.h"

/* All that the tree shows of a job. */
struct gathered {
	struct remote_list lists[2]; /* pods, events */
	struct kind_job *kj;
	struct arena arena;
	struct tree tree;
};

/* False: it was said why; return cli->status. To be released in any case. */
bool get_gather(struct session *s, const struct job_found *f, struct gathered *ret);
void gathered_release(struct gathered *d);

/* get_watch.c: shows the job whenever it changes, until it is deleted. */
enum exit_code get_watch(struct session *s, const struct job_found *f);

#endif
