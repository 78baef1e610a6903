/* All that the tree of a job shows, asked of the cluster. */
#ifndef CLIENT_GATHER_H
#define CLIENT_GATHER_H

#include "client/jobs.h"
#include "client/tree.h"

struct gathered {
	struct remote_list lists[2]; /* pods, events */
	struct kind_job *kj;
	struct arena arena;
	struct tree tree;
};

/* False: it was said why; return cli->status. To be released in any case. */
bool gather_job(struct cli_session *s, const struct job_found *f, struct gathered *ret);
void gathered_release(struct gathered *d);

#endif
