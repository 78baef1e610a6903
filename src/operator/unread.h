/* Objects that a cluster skipped: they are there, or were, and nothing of them is known but who they are. What the
   cache had of such a one stays, and is doubted; a child of a job that it did not have is put into it without a state.
   Either way a GET must tell before the job is planned again. */
#ifndef OPERATOR_UNREAD_H
#define OPERATOR_UNREAD_H

#include "operator/cache.h"

/* IN_LIST: it stands in the list that is coming. S has a name. */
void unread_skipped(struct cache *c, enum resource r, struct str kind, const struct skipped *s, bool in_list);

#endif
