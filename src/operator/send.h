/* Sends one request for a job: remembers what it is for, counts it, hands it to the cluster. */
#ifndef OPERATOR_SEND_H
#define OPERATOR_SEND_H

#include "operator/internal.h"

/* Is there room for one more request of that job? A quarter of all is kept for jobs that have few in flight, so that a
   small job does not wait for large ones. Whoever is planned (operator.c) can send one. */
bool send_may(const struct operator_loop *op, const struct cached_job *job);
/* BODY may be empty. */
void send_request(struct operator_loop *op, const struct request_sent *p, enum verb verb, struct str body);
/* Asks for the job itself, or for what stands under a child's name. */
void send_get_job(struct operator_loop *op, struct cached_job *job);
void send_get_child(struct operator_loop *op, const struct request_sent *p);

#endif
