/* The operator's Events go into the store like anybody's. */
#include "embedded/internal.h"

/* /api/v1/namespaces/NS/events[/NAME] */
static bool read_path(struct str path, struct str *ns, struct str *name)
{
	struct str part;

	if (!str_has_prefix(path, STR("/api/v1/namespaces/")))
		return false;
	path = str_sub(path, sizeof("/api/v1/namespaces/") - 1, path.n);
	if (!str_next(&path, '/', ns) || !str_next(&path, '/', &part) || !str_eqc(part, "events"))
		return false;
	*name = STR_NONE;
	str_next(&path, '/', name);
	return true;
}

static int send_event(struct embedded *em, const struct api_call *call)
{
	struct store_request r = { .type = store_type(em->store, STR_NONE, STR("v1"), STR("events")),
		                   .body = call->body };
	struct store_answer a = { 0 };

	r.verb = call->verb == VERB_CREATE ? STORE_CREATE : STORE_PATCH;
	if (!read_path(call->path, &r.ns, &r.name))
		BUG("not an Event");
	store_call(em->store, &r, &a);
	store_answer_release(&a);
	return a.code;
}

msec embedded_send_events(struct embedded *em)
{
	struct api_call call;
	msec now = loop_now(em->loop), at = NEVER;
	uint64_t id;

	while (events_next(em->events, now, &call, &id, &at))
		events_answer(em->events, now, id, send_event(em, &call));
	return at == NEVER ? NEVER : MAX(at - now, 0);
}
