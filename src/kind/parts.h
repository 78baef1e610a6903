/* A role's template, cut into the text that is the same for all its pods and the places where
   something is put in. */
#ifndef KIND_PARTS_H
#define KIND_PARTS_H

#include "kind/internal.h"

/* Where derived variables go: before the user's, since $(NAME) in a value sees only what stands before it. */
struct hole {
	struct str before;       /* text up to here */
	bool bare;               /* the container has no variables of its own: the whole field is put in */
	const struct str *taken; /* names that the user has set */
	size_t n_taken;
	struct pairs own; /* this container's own derived variables */
};

struct fixed_label {
	struct str key, text; /* text: "key":"value" */
};

struct pod_parts {
	struct str meta;                  /* ,"annotations":{…},"finalizers":[…],"ownerReferences":[…]} */
	const struct fixed_label *labels; /* of the template, then of the job where absent */
	size_t n_labels;
	struct hole *holes;
	size_t n_holes;
	struct str rest;                /* the spec after the last hole, without its closing brace */
	struct str scheduler, hostname; /* the template's own, as JSON values; empty: none */
};

/* Prepares role ROLE, or returns what was prepared before. NULL with *E if the kind's code fails. */
const struct pod_parts *pod_parts_of(struct kind_job *kj, size_t role, struct err *e);

#endif
