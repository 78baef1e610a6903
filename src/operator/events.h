/*
 * Kubernetes' Events for jobs, made of what the observer sees. The same event is one object with a count that
 * is raised now and then, so that nothing floods; the table is bounded, and what is too much is dropped. Best
 * effort: nothing waits for it. It owns no connection: it says what to send.
 */
#ifndef OPERATOR_EVENTS_H
#define OPERATOR_EVENTS_H

#include "kind/kind.h"
#include "operator/call.h"
#include "operator/observer.h"

struct events;

enum { EVENTS_MAX = 1024, EVENTS_IN_FLIGHT = 4 };

/* KINDS must live as long. INSTANCE: who reports. */
struct events *events_new(const struct kinds *kinds, struct str instance);
void events_free(struct events *v);

/* NOW never goes back; WALL is what is written down. */
void events_see(struct events *v, const struct observer_sight *s, msec now, msec wall);
/* The next one that is due, in *RET (valid until the next call), and the id for its answer. False: none now;
 *AT is when to ask again, NEVER: when something was seen or answered. */
bool events_next(struct events *v, msec now, struct api_call *ret, uint64_t *id, msec *at);
void events_answer(struct events *v, msec now, uint64_t id, int code);
/* How many were too many. */
uint64_t events_dropped(const struct events *v);

#endif
