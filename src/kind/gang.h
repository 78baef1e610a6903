/* Inside src/kind: what the pods of a gang carry. */
#ifndef KIND_GANG_H
#define KIND_GANG_H

#include "job/gang.h"
#include "kind/internal.h"

/* What Volcano reads of a pod, and what scheduler-plugins does. */
#define ANNOTATION_GROUP "scheduling.k8s.io/group-name"
#define ANNOTATION_TASK "volcano.sh/task-spec"
#define LABEL_POD_GROUP "scheduling.x-k8s.io/pod-group"

/* Whose PodGroups the kinds were told to make. */
enum gang_kind kind_gang(const struct kind_job *kj);
/* Sets what the gang's pods ask for under the names that they are made with. */
void kind_read_needs(struct kind_job *kj);
/* Warns of schedulers that the user chose and that know nothing of the gang. */
void kind_warn_schedulers(struct kind_job *kj);

#endif
