/* What is seen from outside: /healthz, /readyz, /metrics, /debug/jobs. */
#include "program/process.h"
#include "program/program.h"

bool program_leads(const struct program *p)
{
	return !p->lease || lease_leads(p->lease, loop_now(p->loop));
}

const char *program_unready(const struct program *p)
{
	if (p->held)
		return p->held;
	if (p->state == PROGRAM_STARTING)
		return "the CRDs of the kinds are not ready yet";
	if (p->state == PROGRAM_RELOADING)
		return "restarting";
	if (p->state != PROGRAM_SERVING)
		return "it is shutting down";
	if (!operator_ready(p->op))
		return "not everything has been listed yet";
	if (p->lease && !lease_reachable(p->lease))
		return "the API server does not answer";
	return NULL;
}

static void put_metrics(const struct program *p, struct buf *out)
{
	struct metrics_now now = { .op = p->op,
		                   .kinds = p->served,
		                   .leads = p->lease ? program_leads(p) : -1,
		                   .lease = str_c(p->flags->lease_name),
		                   .events_dropped = p->events ? events_dropped(p->events) : 0,
		                   .process = process_numbers() };

	metrics_write(p->metrics, &now, out);
}

/* /debug/jobs/NAMESPACE/NAME, for whoever sits on this machine; not for a page that his browser shows. */
static void put_job(struct program *p, const struct http_query *q, struct http_reply *reply)
{
	struct str ns, name, more, rest = str_sub(q->path, strlen("/debug/jobs/"), q->path.n);

	if (!q->loopback || !q->named_loopback || !p->op || !str_next(&rest, '/', &ns) ||
	    !str_next(&rest, '/', &name) || str_next(&rest, '/', &more))
		return;
	if (operator_debug(p->op, ns, name, &reply->body)) {
		reply->status = HTTP_OK;
		reply->content_type = "application/json";
	}
}

static void handle(void *cookie, const struct http_query *q, struct http_reply *reply)
{
	const struct program_web *web = cookie;
	const char *why;

	if (web->probes && str_eqc(q->path, "/healthz")) {
		reply->status = HTTP_OK;
		buf_printf(&reply->body, "ok\n");
	} else if (web->probes && str_eqc(q->path, "/readyz")) {
		why = program_unready(web->program);
		reply->status = why ? HTTP_UNAVAILABLE : HTTP_OK;
		buf_printf(&reply->body, "%s\n", why ? why : "ok");
		if (web->program->op)
			operator_troubles(web->program->op, &reply->body);
	} else if (web->metrics && str_eqc(q->path, "/metrics")) {
		reply->status = HTTP_OK;
		reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
		put_metrics(web->program, &reply->body);
	} else if (web->metrics && str_has_prefix(q->path, STR("/debug/jobs/"))) {
		put_job(web->program, q, reply);
	}
}

static bool off(const char *address)
{
	return !*address || !strcmp(address, "0");
}

static bool open_one(struct program *p, struct program_web *web, const char *flag, const char *address, struct err *e)
{
	web->program = p;
	web->listener = http_listen(p->loop, str_c(address), handle, web, e);
	return web->listener || err_wrap(e, "--%s", flag);
}

bool program_web_open(struct program *p, struct err *e)
{
	const char *metrics = p->flags->metrics_address, *health = p->flags->health_address;
	bool same = !strcmp(metrics, health);

	p->webs[0].metrics = true;
	p->webs[0].probes = same;
	p->webs[1].probes = true;
	return (off(metrics) || open_one(p, &p->webs[0], "metrics-bind-address", metrics, e)) &&
	       (same || off(health) || open_one(p, &p->webs[1], "health-probe-bind-address", health, e));
}

void program_web_close(struct program *p)
{
	for (size_t i = 0; i < ARRAY_LEN(p->webs); i++)
		if (p->webs[i].listener)
			http_listener_free(p->webs[i].listener);
}
