/* Inside src/kind: what the children of TensorBoard are called. */
#ifndef KIND_BOARD_H
#define KIND_BOARD_H

#include "kind/internal.h"

/* Of its pod and its service: <job, at most 40>-tensorboard-<4 characters>, unless the kind says another. A role
   cannot have that name: its pods end with their number, and the role itself cannot be there twice. In A, or the
   kind's own. */
struct str board_name(const struct kind_job *kj, const struct board *b, struct arena *a);
/* Beside ours, in the job's scratch arena. */
void board_labels(struct kind_job *kj, const struct board *b, struct pairs *ret);

#endif
