/* How often everything that can happen did happen: what never did was not tried. */
#ifndef SIM_TALLY_H
#define SIM_TALLY_H

#include "base/util.h"
#include "job/record.h"

#define TALLY_FAULTS(X)                                                                                                \
	X(WATCH_STALLED, "watch stalled")                                                                              \
	X(WATCH_REPEATED, "watch events repeated")                                                                     \
	X(WATCH_DROPPED, "watch dropped, list anew")                                                                   \
	X(WATCH_EXPIRED, "watch expired (410)")                                                                        \
	X(CONFLICT, "conflict (409)")                                                                                  \
	X(EXISTS, "already exists (409)")                                                                              \
	X(THROTTLED, "too many requests (429)")                                                                        \
	X(SERVER_ERROR, "server error (5xx)")                                                                          \
	X(LOST_DONE, "reply lost, done")                                                                               \
	X(LOST_UNDONE, "reply lost, not done")                                                                         \
	X(LOST_LATE, "reply lost, done later")                                                                         \
	X(CRASH, "operator crash")                                                                                     \
	X(LEADER, "leader change")                                                                                     \
	X(TWO_LEADERS, "two operators at once")                                                                        \
	X(LATE_WRITE, "late write of a former operator")                                                               \
	X(STORM, "storm of changes")                                                                                   \
	X(NODE_SHORT, "node not ready, short")                                                                         \
	X(NODE_LONG, "node not ready, long")                                                                           \
	X(NODE_SHUTDOWN, "node shut down, its pods are told")                                                          \
	X(NODE_GONE, "node gone")                                                                                      \
	X(NODE_TAINT, "node out of service")                                                                           \
	X(OUTAGE, "most nodes not ready")                                                                              \
	X(QUOTA, "quota (403)")                                                                                        \
	X(BARRED, "quota on one role's pods or services")                                                              \
	X(UNDELETED, "delete denied (403, 422, 500)")                                                                  \
	X(WEBHOOK, "webhook failure (500)")                                                                            \
	X(INVALID_CHILD, "child refused (422)")                                                                        \
	X(INVALID_STATUS, "status refused (422, 400, 403)")                                                            \
	X(INVALID_OWN, "kind's own status refused (422)")                                                              \
	X(DENIED, "child denied for a while (422, 400, 403)")                                                          \
	X(FOREIGN, "name taken by somebody else")                                                                      \
	X(IMPOSTOR, "foreign pod with our labels")                                                                     \
	X(EVICTED, "pod evicted")                                                                                      \
	X(STOPPED_ZERO, "stopped by its kubelet, exit 0")                                                              \
	X(OVERUSE, "pod evicted for its own use")                                                                      \
	X(IN_PLACE, "container restarted in place")                                                                    \
	X(HELD, "pod held by a finalizer")                                                                             \
	X(HELD_FOR_EVER, "pod held by a finalizer for ever")                                                           \
	X(BESIDE, "sidecar outlives what counts")                                                                      \
	X(SIDECAR_AGAIN, "sidecar restarted in place")                                                                 \
	X(TAINTED, "pod deleted by the taint manager")                                                                 \
	X(TOLERATED, "pod stays on a lost node for ever")                                                              \
	X(REJECTED, "pod rejected by the kubelet")                                                                     \
	X(POD_DELETED, "pod deleted by a user")                                                                        \
	X(UNLABELLED, "labels removed")                                                                                \
	X(IMAGE, "image cannot be pulled")                                                                             \
	X(SLOW_PULL, "image pulled slowly, and one try fails")                                                         \
	X(REGISTRY, "registry not reached for a while")                                                                \
	X(INIT, "init container fails")                                                                                \
	X(EXIT_PERMANENT, "exit 1-127")                                                                                \
	X(EXIT_RETRY, "exit 128-255")                                                                                  \
	X(OOM, "OOMKilled")                                                                                            \
	X(SIGTERM_ZERO, "exit 0 after SIGTERM")                                                                        \
	X(JOB_DELETED, "job deleted")                                                                                  \
	X(JOB_FOREGROUND, "job deleted in the foreground")                                                             \
	X(JOB_AGAIN, "job made again under its name")                                                                  \
	X(LATER_VERSION, "ended by a later version")                                                                   \
	X(ELASTIC_DOWN, "elastic role shrinks")                                                                        \
	X(ELASTIC_UP, "elastic role grows")                                                                            \
	X(ELASTIC_AGAIN, "elastic role shrinks and grows again")                                                       \
	X(RESIZED, "count edited")                                                                                     \
	X(SUSPENDED, "suspended")                                                                                      \
	X(RESUMED, "resumed")                                                                                          \
	X(SPOILT, "edited to be invalid")                                                                              \
	X(MENDED, "mended")                                                                                            \
	X(ANNOTATED, "end asked for by annotation")                                                                    \
	X(GROUP_QUEUED, "PodGroup waits for its queue")                                                                \
	X(GROUP_EDITED, "PodGroup edited")                                                                             \
	X(GROUP_FOREIGN, "PodGroup's name taken by somebody else")                                                     \
	X(GROUPS_ABSENT, "PodGroups not defined (404)")                                                                \
	X(LARGE, "object too large for lists and watches")                                                             \
	X(VAST, "object too large to be read at all")                                                                  \
	X(NAMELESS, "object too large, without a name")                                                                \
	X(SHRUNK, "object can be read again")

enum sim_hit {
#define X(name, text) HIT_##name,
	TALLY_FAULTS(X)
#undef X
		HIT_COUNT
};

struct sim_tally {
	uint64_t steps, seeds, jobs, pods, writes;
	uint64_t hits[HIT_COUNT];
	uint64_t causes[CAUSE_COUNT];
	uint64_t endings[PHASE_COUNT];
	uint64_t scripts[4];
};

/* Adds the counts of T to TO. */
void tally_add(struct sim_tally *to, const struct sim_tally *t);
/* Prints the table, MARK before each line; false if something was never hit. */
bool tally_print(const struct sim_tally *t, FILE *out, const char *mark);

#endif
