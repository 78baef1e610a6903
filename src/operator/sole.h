/* Children of which a job has one: how each sort is written, and what the answers mean. One more is a row in sole.c. */
#ifndef OPERATOR_SOLE_H
#define OPERATOR_SOLE_H

#include "kind/kind.h"
#include "plan/plan.h"

struct sole_writer {
	/* Are there any, as the operator was started? */
	bool (*used)(const struct plan_config *config);
	struct str (*name)(struct kind_job *kj);
	/* The action's object, or the patch of HAVE, into OUT. */
	bool (*put)(struct kind_job *kj, const struct child *have, const void *want, struct buf *out, struct err *e);
	/* What is remembered of the answer to a patch. */
	uint64_t (*kept)(uint64_t wish, const struct child *have);
	enum refusal_kind (*refusal)(int code, struct str reason, struct str message);
	/* In words, in A: it was refused; they cannot be listed. */
	struct str (*refused)(const struct plan_config *config, int code, struct str message, struct arena *a);
	struct str (*trouble)(const struct plan_config *config, int code, struct str message, struct arena *a);
};

/* NULL: R is none of these. */
const struct sole_writer *sole_writer(enum resource r);
/* groups.c */
extern const struct sole_writer group_writer;

#endif
