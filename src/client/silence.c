#include "client/silence.h"

#include "client/remote.h"

static const msec patience = SECONDS(3); /* before it is said */
static const msec pause = SECONDS(1);    /* between two questions */
static const msec quiet = SECONDS(10);   /* without news; then a question shows whether it is there */

static void say(struct remote *r, const char *what)
{
	if (r->before_saying)
		r->before_saying(r->before_saying_cookie);
	fflush(stdout);
	fprintf(stderr, "%s %s: %s\n", r->cli->program, r->cli->command->name, what);
}

/* What is asked for is not looked at: any answer is one. */
static void on_answer(void *cookie, const struct outcome *o, yyjson_val *answer)
{
	struct remote *r = cookie;

	(void)answer;
	r->silence.asked = false;
	if (o->code)
		remote_heard(r);
	else
		remote_doubt(r);
	/* Whoever waits for a change may find now that nobody reads it any more. */
	remote_wake(r);
}

static void ask(struct remote *r)
{
	r->silence.asked = true;
	remote_doubt(r);
	kube_raw(r->kube,
	         &(struct kube_raw){ .path = STR("/version"), .timeout = patience, .done = on_answer, .cookie = r });
}

static void on_time(void *cookie)
{
	struct remote *r = cookie;
	struct silence *s = &r->silence;
	msec now = loop_now(r->loop);

	if (s->since == NEVER && s->listeners && now - s->heard < quiet) {
		loop_timer_set(s->timer, s->heard + quiet - now);
		return;
	}
	if (s->since != NEVER && now - s->since >= patience && !s->said) {
		char what[512];

		snprintf(what, sizeof(what), "the API server (%.*s) does not answer; still trying",
		         STR_F(str_sub(r->config.server.url, 0, 400)));
		say(r, what);
		s->said = true;
	}
	if (s->listeners && !s->asked)
		ask(r);
	if (s->since != NEVER)
		loop_timer_set(s->timer, s->said ? pause : MIN(pause, MAX(s->since + patience - now, 0)));
}

void silence_begin(struct remote *r)
{
	r->silence = (struct silence){ .since = NEVER, .heard = loop_now(r->loop) };
	r->silence.timer = loop_timer_new(r->loop, on_time, r);
}

void silence_end(struct remote *r)
{
	loop_timer_free(r->silence.timer);
	r->silence.timer = NULL;
}

void remote_doubt(struct remote *r)
{
	if (r->silence.since != NEVER)
		return;
	r->silence.since = loop_now(r->loop);
	loop_timer_set(r->silence.timer, pause);
}

void remote_heard(struct remote *r)
{
	struct silence *s = &r->silence;

	if (s->said)
		say(r, "the API server answers again");
	s->said = false;
	s->since = NEVER;
	s->heard = loop_now(r->loop);
	if (s->listeners)
		loop_timer_set(s->timer, quiet);
	else
		loop_timer_stop(s->timer);
}

void silence_forget(struct remote *r)
{
	r->silence.said = false;
	r->silence.since = NEVER;
	loop_timer_stop(r->silence.timer);
}

void remote_listen(struct remote *r)
{
	if (!r->silence.listeners++ && r->silence.since == NEVER)
		loop_timer_set(r->silence.timer, quiet);
}

void remote_listen_end(struct remote *r)
{
	if (!--r->silence.listeners && r->silence.since == NEVER)
		loop_timer_stop(r->silence.timer);
}
