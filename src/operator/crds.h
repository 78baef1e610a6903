/*
 * The CustomResourceDefinition of one kind at the start: is it there, is it ours, is it old, does it do? A
 * state machine that owns no connection: it says what to send next and is told what came back.
 *
 * What is not marked ours is not touched without `adopt`; a CRD that is used must have a status
 * subresource and keep what the operator writes there, or the kind is not served.
 */
#ifndef OPERATOR_CRDS_H
#define OPERATOR_CRDS_H

#include "kind/kind.h"
#include "operator/call.h"

struct crd_options {
	bool install, adopt;
	bool look;     /* false: CRDs cannot be looked at; it is only tried whether jobs can be listed */
	struct str ns; /* where they are listed; empty: everywhere */
};

struct crd;

/* KINDS is needed for this call only. */
struct crd *crd_new(struct kinds *kinds, const struct kind *kind, const struct crd_options *o);
void crd_free(struct crd *c);

enum crd_wish_type { CRD_SLEEP, CRD_SEND, CRD_BUSY, CRD_DONE };
struct crd_wish {
	enum crd_wish_type type;
	struct api_call call; /* SEND: counts as sent; valid until the next call for this CRD */
	msec at;              /* SLEEP: ask again then */
};
struct crd_wish crd_next(struct crd *c, msec now);
/* CODE 0: no answer. MESSAGE: the server's, if it refused. */
void crd_answer(struct crd *c, msec now, int code, struct str message, yyjson_val *answer);

/* Once DONE: can its jobs be served? crd_text() says why not, or what was done; it is one line. Before that
   it is what the last answer was about, empty if there is no trouble. */
bool crd_served(const struct crd *c);
const char *crd_text(const struct crd *c);
struct str crd_kind(const struct crd *c);
/* Did this very process make it? Then *RET deletes it. */
bool crd_undo(struct crd *c, struct api_call *ret);

#endif
