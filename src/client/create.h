/* Objects that go to a cluster: what is sent, and what came of it. */
#ifndef CLIENT_CREATE_H
#define CLIENT_CREATE_H

#include "client/jobs.h"

/* One object to create. */
struct job_creation {
	const struct kind *kind; /* NULL: no job, but something that a job may need */
	struct kube_resource resource;
	struct str what; /* ConfigMap, TfJob.mlkube.io */
	struct str ns, name;
	yyjson_doc *doc; /* owned */
};

enum create_result { CREATE_DONE, CREATE_EXISTS, CREATE_FAILED };
/* CREATE_FAILED: it was said why; return cli->status. With CREATE_DONE *RET is the job as the server has it (to be
   released), if RET is given. */
enum create_result create_object(struct cli_session *s, const struct job_creation *c, struct job_found *ret);
void creation_release(struct job_creation *c);

/* Deletes the job, if it still is the one that was found; with WAIT it is gone when this returns. Returns CLI_OK, also
   if it was gone already, or what was said. */
enum exit_code job_delete(struct cli_session *s, const struct job_found *f, bool wait);

/* ConfigMap and the like: where they live; false if we do not send them. */
bool create_foreign(yyjson_val *root, struct kube_resource *ret);

#endif
