#include "http/client_call.h"

#include "base/list.h"

/* Users' callbacks may ask for anything at any time, but libcurl must not be changed from inside itself.
   So every way in is a pair of enter and leave, and the outermost leave carries out what was asked for. */

enum { DEFAULT_BODY_MAX = 16 << 20, RETIRED_MAX = 8 };

struct http_client {
	struct loop *loop;
	size_t connections;
	struct http_pool *pool;                 /* where new calls go */
	struct http_pool *retired[RETIRED_MAX]; /* of older configurations, until their last call has ended */
	struct {
		struct http_call *first, *last;
	} waiting, active;
	struct http_call *doomed; /* cancelled while libcurl was at work */
	struct heap due;
	struct loop_timer *timer;
	msec armed; /* when the timer fires */
	unsigned depth;
	bool in_curl, dead;
	bool freed; /* a call is to go on that was paused */
};

static void call_free(struct http_call *call)
{
	buf_release(&call->body);
	free(call->text);
	free(call);
}

/* Takes it out of everything; nobody is told. */
static void detach(struct http_call *call)
{
	struct http_client *c = call->client;

	heap_remove(&c->due, &call->due);
	switch (call->state) {
	case CALL_WAITING:
		deque_drop(&c->waiting.first, &c->waiting.last, call);
		break;
	case CALL_ACTIVE:
		http_pool_stop(call);
		deque_drop(&c->active.first, &c->active.last, call);
		break;
	case CALL_ENDED:
		break;
	}
	call->state = CALL_ENDED;
}

/* When to look at it next; NEVER if it may take for ever. */
static msec due_at(const struct http_call *call)
{
	msec at = NEVER;

	if (call->problem && call->state == CALL_WAITING)
		return call->began;
	if (call->r.timeout > 0)
		at = call->began + call->r.timeout;
	if (call->r.idle_timeout > 0 && call->state == CALL_ACTIVE && !call->paused)
		at = MIN(at, call->last_byte + call->r.idle_timeout);
	return at;
}

/* Its time is over, whether or not the timer has fired: after a process was stopped for a while, sockets come first. */
static bool late(const struct http_call *call)
{
	return due_at(call) <= loop_now(call->client->loop);
}

static void watch_clock(struct http_call *call)
{
	msec at = due_at(call);

	if (at == NEVER)
		heap_remove(&call->client->due, &call->due);
	else
		heap_put(&call->client->due, &call->due, at);
}

static void drop_all(struct http_call *first)
{
	struct http_call *next;

	for (struct http_call *call = first; call; call = next) {
		next = call->next;
		detach(call);
		call_free(call);
	}
}

static void destroy(struct http_client *c)
{
	drop_all(c->active.first);
	drop_all(c->waiting.first);
	for (size_t i = 0; i < RETIRED_MAX; i++)
		http_pool_free(c->retired[i]);
	http_pool_free(c->pool);
	heap_release(&c->due);
	loop_timer_free(c->timer);
	free(c);
}

static void bury_doomed(struct http_client *c)
{
	struct http_call *call;

	while ((call = c->doomed)) {
		c->doomed = call->next_doomed;
		detach(call);
		call_free(call);
	}
}

static struct http_call *next_freed(const struct http_client *c)
{
	for (struct http_call *call = c->active.first; call; call = call->next)
		if (call->held && !call->paused)
			return call;
	return NULL;
}

/* Users are called meanwhile, and may change everything: the search begins anew each time. */
static void free_paused(struct http_client *c)
{
	struct http_call *call;

	while (c->freed && !c->dead) {
		c->freed = false;
		while (!c->dead && (call = next_freed(c))) {
			call->held = false;
			http_client_curl_begins(c);
			http_pool_go_on(call);
			http_client_curl_ended(c);
		}
	}
}

static void start_waiting(struct http_client *c)
{
	struct http_call *call, *next;

	for (call = c->waiting.first; call && http_pool_active(c->pool) < c->connections; call = next) {
		next = call->next;
		if (late(call))
			continue;
		deque_drop(&c->waiting.first, &c->waiting.last, call);
		deque_append(&c->active.first, &c->active.last, call);
		call->state = CALL_ACTIVE;
		call->last_byte = loop_now(c->loop);
		http_pool_start(c->pool, call);
		watch_clock(call);
	}
}

static void arm(struct http_client *c)
{
	struct heap_node *first = heap_first(&c->due);

	/* A timer that fires too early does no harm. */
	if (!first || first->key >= c->armed)
		return;
	c->armed = first->key;
	loop_timer_set(c->timer, c->armed - loop_now(c->loop));
}

void http_client_enter(struct http_client *c)
{
	c->depth++;
}

void http_client_leave(struct http_client *c)
{
	if (c->depth > 1) {
		c->depth--;
		return;
	}
	free_paused(c);
	if (!c->dead) {
		start_waiting(c);
		for (size_t i = 0; i < RETIRED_MAX; i++) {
			if (c->retired[i] && http_pool_active(c->retired[i]) == 0) {
				http_pool_free(c->retired[i]);
				c->retired[i] = NULL;
			}
		}
		arm(c);
	}
	c->depth--;
	if (c->dead)
		destroy(c);
}

void http_client_curl_begins(struct http_client *c)
{
	c->in_curl = true;
}

void http_client_curl_ended(struct http_client *c)
{
	c->in_curl = false;
	bury_doomed(c);
}

bool http_client_is_dead(const struct http_client *c)
{
	return c->dead;
}

void http_client_finish(struct http_call *call, const char *problem, msec retry_after)
{
	bool streamed = call->r.data && call->status / 100 == 2;
	struct http_answer a = { .problem = problem, .retry_after = retry_after };

	detach(call);
	a.status = problem && !streamed ? 0 : call->status;
	a.never_sent = problem && call->attempts == 0;
	if (!problem)
		a.body = buf_str(&call->body);
	a.sent = call->r.body;
	a.took = loop_now(call->client->loop) - call->began;
	a.began = call->status ? call->answered - call->began : a.took;
	call->r.done(call->r.cookie, &a);
	call_free(call);
}

static void time_out(struct http_call *call)
{
	const char *problem = call->problem;

	if (problem)
		;
	else if (call->state == CALL_WAITING)
		problem = "timed out waiting for a free connection";
	else if (call->r.timeout > 0 && loop_now(call->client->loop) >= call->began + call->r.timeout)
		problem = "timed out";
	else
		problem = "timed out: the server is silent";
	http_client_finish(call, problem, 0);
}

void http_client_expire(struct http_client *c)
{
	struct heap_node *first;

	while (!c->dead && (first = heap_first(&c->due)) && first->key <= loop_now(c->loop)) {
		struct http_call *call = heap_entry(first, struct http_call, due);

		/* Bytes that came have moved the time since. */
		watch_clock(call);
		if (late(call))
			time_out(call);
	}
}

static void on_call_timer(void *cookie)
{
	struct http_client *c = cookie;

	http_client_enter(c);
	c->armed = NEVER;
	http_client_expire(c);
	http_client_leave(c);
}

struct http_client *http_client_new(struct loop *l, const struct http_server *s, size_t connections, struct err *e)
{
	struct http_client *c = xcalloc(1, sizeof(*c));

	ASSERT(connections > 0);
	c->loop = l;
	c->connections = connections;
	c->armed = NEVER;
	c->pool = http_pool_new(c, l, s, connections, e);
	if (!c->pool) {
		free(c);
		return NULL;
	}
	c->timer = loop_timer_new(l, on_call_timer, c);
	return c;
}

void http_client_free(struct http_client *c)
{
	if (!c)
		return;
	ASSERT(!c->dead);
	c->dead = true;
	if (c->depth == 0)
		destroy(c);
}

static struct str keep_text(char **at, struct str s)
{
	struct str kept = { *at, s.n };

	if (s.n)
		memcpy(*at, s.p, s.n);
	*at += s.n;
	return kept;
}

/* One block for all texts. */
static void copy_request(struct http_call *call, const struct http_request *r)
{
	struct str *texts[] = { &call->r.path, &call->r.body, &call->r.content_type, &call->r.accept,
		                &call->r.authorization };
	size_t n = 0;
	char *at;

	call->r = *r;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		n += texts[i]->n;
	at = call->text = xmalloc(n + 1);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*texts[i] = keep_text(&at, *texts[i]);
}

static bool breaks_line(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127)
			return true;
	return false;
}

struct http_call *http_send(struct http_client *c, const struct http_request *r)
{
	struct http_call *call = xcalloc(1, sizeof(*call));

	ASSERT(r->done && !c->dead);
	call->client = c;
	call->began = loop_now(c->loop);
	call->body = (struct buf)BUF_INIT(r->body_max ? r->body_max : DEFAULT_BODY_MAX);
	copy_request(call, r);
	if (str_empty(r->path) || r->path.p[0] != '/' || breaks_line(r->path) || memchr(r->path.p, ' ', r->path.n))
		call->problem = "the path is not valid";
	else if (breaks_line(r->content_type) || breaks_line(r->accept) || breaks_line(r->authorization))
		call->problem = "a header's value has a control character";
	http_client_enter(c);
	deque_append(&c->waiting.first, &c->waiting.last, call);
	watch_clock(call);
	http_client_leave(c);
	return call;
}

void http_cancel(struct http_call *call)
{
	struct http_client *c = call->client;

	if (call->state == CALL_ENDED || call->cancelled || c->dead)
		return;
	if (c->in_curl && call->state == CALL_ACTIVE) {
		call->cancelled = true;
		call->next_doomed = c->doomed;
		c->doomed = call;
		return;
	}
	http_client_enter(c);
	detach(call);
	call_free(call);
	http_client_leave(c);
}

void http_pause(struct http_call *call)
{
	call->paused = true;
}

void http_go_on(struct http_call *call)
{
	struct http_client *c = call->client;

	if (!call->paused || call->state == CALL_ENDED || call->cancelled || c->dead)
		return;
	call->paused = false;
	call->last_byte = loop_now(c->loop);
	c->freed = c->freed || call->held;
	http_client_enter(c);
	watch_clock(call);
	http_client_leave(c);
}

bool http_client_refresh(struct http_client *c, const struct http_server *s, struct err *e)
{
	struct http_pool *fresh = NULL;
	size_t i;

	for (i = 0; i < RETIRED_MAX && c->retired[i]; i++)
		;
	if (i == RETIRED_MAX)
		return err_set(e, ERR_LIMIT, "connections of %d older configurations are still in use", RETIRED_MAX);
	fresh = http_pool_new(c, c->loop, s, c->connections, e);
	if (!fresh)
		return false;
	http_client_enter(c);
	c->retired[i] = c->pool;
	c->pool = fresh;
	http_client_leave(c);
	return true;
}
