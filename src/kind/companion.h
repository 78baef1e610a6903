/* Inside src/kind: what the children of a companion (job/companion.h) are called. */
#ifndef KIND_COMPANION_H
#define KIND_COMPANION_H

#include "kind/internal.h"

/* Of its pod and its service: <job, at most 40>-<companion>-<4 characters>, unless the kind says another. A role
   cannot have that name: its pods end with their number, and the role itself cannot be there twice. In A, or the
   kind's own. */
struct str kind_companion_name(const struct kind_job *kj, const struct companion *c, struct arena *a);
/* Beside ours, in the job's scratch arena. */
void kind_companion_labels(struct kind_job *kj, const struct companion *c, struct pairs *ret);

#endif
