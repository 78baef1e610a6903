/* How large the pods of a job are, as etcd would keep them. */
#ifndef KIND_SIZE_H
#define KIND_SIZE_H

#include "kind/internal.h"

struct pod_sizes {
	int64_t pods;
	uint64_t all;
	size_t largest, variables; /* bytes of the largest, and of its derived variables */
	size_t role;               /* … whose it is */
};

/* Counts the pods of a role that has replicas. VARS: what the kind says to the last of them; the others differ by
   digits. */
void pod_sizes_add(struct pod_sizes *s, const struct kind_job *kj, size_t role, const struct pairs *vars);
/* Reports what is too large; of a job that has started only as a warning. */
void pod_sizes_check(const struct pod_sizes *s, struct kind_job *kj);

#endif
