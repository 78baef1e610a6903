/* A companion on this machine: it is for people, so it listens on the loopback of the machine itself, whatever network
   the pods have, on a port of its own that its pod's annotation tells. It runs with the caller's rights and home, and
   only if it is installed: where it is not, its pod waits and says so, and nobody else does. */
#ifndef LOCAL_RUNNER_COMPANION_H
#define LOCAL_RUNNER_COMPANION_H

#include "local/runner/state.h"

bool companion_is(const struct runner_pod *p);
/* Does the pod live on the machine's own network? */
bool companion_on_host(const struct runner_pod *p);
/* Changes what was made of its object into what runs here, and writes its address into its annotations. As
   spec_make(). */
bool companion_make_spec(struct runner *r, struct runner_pod *p, struct pod_spec *spec, struct pod_refusal *why,
                         struct err *e);
/* The port that one who runs already has. */
void companion_adopt(struct runner_pod *p);
/* … is free again. */
void companion_release(struct runner_pod *p);

#endif
