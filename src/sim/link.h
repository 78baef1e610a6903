/* One operator, and its end of the way to the server. */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include "operator/operator.h"
#include "sim/stream.h"
#include "sim/wire.h"

/* One operator's way to the server. */
struct sim_link {
	struct cluster cluster; /* first */
	struct sim *sim;
	size_t slot; /* which of the SIM_LINKS */
	msec began;
	struct operator_loop *op;
	struct sim_stream streams[RES_COUNT];
	struct sim_event *wake;
	msec busy; /* plans nothing before */
	size_t requests_max;
	/* What is being delivered. */
	enum resource resource;
	const struct stream_item *item;
	size_t at;
	struct sim_request *reply;
};

struct sim_link *link_new(struct sim *s, size_t slot);
/* The operator is called. */
void link_run(struct sim *s, struct sim_link *l);
/* … since it asked for that. */
void link_wake(struct sim *s, struct sim_link *l);
/* The operator is no more; some of its requests still arrive, those of a leader that was cut off late. */
void link_crash(struct sim *s, struct sim_link *l, bool cut_off);
/* The one of today crashes and is started again; or another one takes over. */
void link_kill(struct sim *s);
void link_change_leader(struct sim *s);
void link_depose(struct sim *s);
/* How many resources are watched. */
size_t link_streams(const struct sim *s);

#endif
