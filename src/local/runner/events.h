/* Events on pods. One for each pod, reason and container: what comes again counts up, also over a restart. */
#ifndef LOCAL_RUNNER_EVENTS_H
#define LOCAL_RUNNER_EVENTS_H

#include "local/runner/state.h"

enum runner_event { EVENT_NORMAL, EVENT_WARNING };
/* SUB tells several of one reason apart (a container); may be empty. */
void event_say(struct runner *r, const struct runner_pod *p, enum runner_event type, const char *reason, struct str sub,
               const char *fmt, ...) PRINTF_LIKE(6, 7);

#endif
