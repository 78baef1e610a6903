/* Requests on their way to the server and back, and what happens to them there. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "sim/objects.h"

struct sim;

struct sim_request {
	struct request r;
	struct sim_link *link; /* NULL: whoever sent it is no more */
	size_t slot;           /* … and who it was */
	/* Of a create's body. */
	struct pod pod;
	struct service service;
	yyjson_val *group;
	size_t n_containers;
	struct str owner_uid;
	bool in_place;      /* its container has a restart policy of its own */
	bool sidecar_again; /* … and so has the one beside it */
	const char *fault;  /* body that cannot be taken */
	bool lose_reply, hoarded;
	bool in_vain;     /* refused for ever: it is no write */
	msec slow;        /* arrives so much later */
	int inject;       /* answered with this code instead; 0: carried out */
	int inject_after; /* … though carried out */
	struct outcome outcome;
	struct sim_version *answered, *version; /* what the answer holds */
	struct sim_event *timer;                /* its arrival; NULL: it has arrived */
	struct sim_request *next, *prev;        /* in flight */
};

/* For the operator: cluster.h. */
void wire_submit(struct cluster *c, const struct request *req);
/* Submits a request as if the operator had. */
void wire_submit_spoiled(struct sim *s, const struct sim_request *like);
/* Those of an operator that is no more; some of them still arrive, those of a leader that was cut off late. */
void wire_cut(struct sim *s, const struct sim_link *l, bool cut_off);
void wire_arrive(struct sim *s, struct sim_request *r);
void wire_reply(struct sim *s, struct sim_request *r);

#endif
