/* What a job would be given, for dljob render. */
#ifndef CLIENT_RENDER_H
#define CLIENT_RENDER_H

#include "client/cli.h"
#include "client/objects.h"

/* Which replicas. */
struct replica_selection {
	struct str role; /* empty: all */
	int32_t index;   /* -1: all */
};

bool selection_has(const struct replica_selection *s, const struct role *role, int32_t index);
/* Is there any such replica? False with *E. */
bool selection_check(const struct replica_selection *s, const struct job *job, struct err *e);

/* Its services, then its pods. */
bool render_objects(struct kind_job *kj, const struct replica_selection *s, struct object_list *out, struct err *e);
/* A table of the variables of all containers: ROLE INDEX CONTAINER NAME VALUE. */
bool render_env(struct kind_job *kj, const struct replica_selection *s, struct err *e);

#endif
