/* Calls beside the operator's own: Leases, CRDs and Events. */
#include "base/list.h"
#include "program/program.h"

#include "base/log.h"

enum call_purpose { CALL_LEASE, CALL_CRD, CALL_UNDO, CALL_EVENT };

struct program_call {
	struct program *program;
	enum call_purpose purpose;
	struct crd *crd;
	uint64_t event;
	enum verb verb;
	msec sent;
	struct program_call *prev, *next;
};

static void forget(struct program_call *c)
{
	list_drop(&c->program->calls, c);
	free(c);
}

static void lease_answered(struct program *p, const struct outcome *o, yyjson_val *answer)
{
	/* 404 and 409 are how one finds out. */
	bool trouble =
		!o->code || (o->code >= HTTP_BAD_REQUEST && o->code != HTTP_NOT_FOUND && o->code != HTTP_CONFLICT);
	char text[32];

	snprintf(text, sizeof(text), "lease %d", o->code);
	if (trouble && program_news(p, text))
		log_warn(FIELDS(F_INT("code", o->code)), "lease: %.*s", STR_F(o->message));
	lease_answer(p->lease, loop_now(p->loop), o->code, answer);
}

static void answered(void *cookie, const struct outcome *o, yyjson_val *answer)
{
	struct program_call *c = cookie;
	struct program *p = c->program;
	msec now = loop_now(p->loop);

	metrics_call(p->metrics, c->verb, o->code, now - c->sent);
	switch (c->purpose) {
	case CALL_LEASE:
		lease_answered(p, o, answer);
		break;
	case CALL_CRD:
		crd_answer(c->crd, now, o->code, o->message, answer);
		break;
	case CALL_UNDO:
		p->undoing--;
		if (o->code != HTTP_OK && o->code != HTTP_NOT_FOUND)
			log_warn(FIELDS(F_INT("code", o->code)), "a CRD was not deleted: %.*s", STR_F(o->message));
		break;
	case CALL_EVENT:
		events_answer(p->events, now, c->event, o->code);
		break;
	}
	forget(c);
	program_wake(p);
}

static void send_call(struct program *p, const struct program_call *about, const struct api_call *call)
{
	static const enum http_method methods[] = {
		[VERB_GET] = HTTP_GET,     [VERB_CREATE] = HTTP_POST,        [VERB_DELETE] = HTTP_DELETE,
		[VERB_PATCH] = HTTP_PATCH, [VERB_PATCH_STATUS] = HTTP_PATCH,
	};
	struct program_call *c = xmalloc(sizeof(*c));
	struct kube_raw raw = { .method = methods[call->verb],
		                .path = call->path,
		                .body = call->body,
		                .timeout = operator_flags_timeout(p->flags),
		                .done = answered,
		                .cookie = c };

	*c = *about;
	c->program = p;
	c->verb = call->verb;
	c->sent = loop_now(p->loop);
	list_push(&p->calls, c);
	if (call->body.n)
		raw.content_type =
			call->verb == VERB_PATCH ? STR("application/merge-patch+json") : STR("application/json");
	kube_raw(p->kube, &raw);
}

void program_call_lease(struct program *p, const struct api_call *call)
{
	send_call(p, &(struct program_call){ .purpose = CALL_LEASE }, call);
}

void program_call_crd(struct program *p, struct crd *crd, const struct api_call *call)
{
	send_call(p, &(struct program_call){ .purpose = CALL_CRD, .crd = crd }, call);
}

void program_call_undo(struct program *p, const struct api_call *call)
{
	p->undoing++;
	send_call(p, &(struct program_call){ .purpose = CALL_UNDO }, call);
}

void program_call_event(struct program *p, uint64_t id, const struct api_call *call)
{
	send_call(p, &(struct program_call){ .purpose = CALL_EVENT, .event = id }, call);
}

void program_calls_drop(struct program *p)
{
	struct program_call *c = p->calls, *next;

	p->calls = NULL;
	for (; c; c = next) {
		next = c->next;
		/* As if the server had not answered. */
		if (c->purpose == CALL_LEASE && p->lease)
			lease_answer(p->lease, loop_now(p->loop), 0, NULL);
		free(c);
	}
}
