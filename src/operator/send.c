#include "operator/send.h"

/* Fewer than these are few. */
enum { FEW = 16 };

bool send_may(const struct operator_loop *op, const struct cached_job *job)
{
	size_t most = op->config.requests_max;

	return op->requests.in_flight < (job->in_flight < FEW ? most : most - most / 4);
}

void send_request(struct operator_loop *op, const struct request_sent *p, enum verb verb, struct str body)
{
	struct request r = {
		.verb = verb, .resource = p->resource, .ns = p->ns, .name = p->name, .body = body, .grace = -1
	};
	struct request_sent sent = *p;

	sent.verb = verb;
	sent.sent = op->now;
	r.id = requests_add(&op->requests, &sent);
	op->cache.sent = requests_serial(r.id);
	if (p->resource == RES_JOB)
		r.kind = p->job->kind;
	if (verb == VERB_DELETE) {
		r.uid = p->uid;
		r.grace = p->force ? 0 : -1;
	}
	p->job->in_flight++;
	cluster_submit(op->cluster, &r);
}

void send_get_job(struct operator_loop *op, struct cached_job *job)
{
	struct request_sent p = { .purpose = FOR_JOB,
		                  .job = job,
		                  .resource = RES_JOB,
		                  .ns = job->meta.ns,
		                  .name = job->meta.name,
		                  .uid = job->meta.uid };

	send_request(op, &p, VERB_GET, STR_NONE);
}

void send_get_child(struct operator_loop *op, const struct request_sent *p)
{
	struct request_sent ask = *p;

	ask.purpose = FOR_CHILD;
	send_request(op, &ask, VERB_GET, STR_NONE);
}
