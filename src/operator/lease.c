#include "operator/lease.h"

#include "base/http_code.h"

enum { BODY_MAX = 4096 };

enum lease_asked { ASKED_NOTHING, ASKED_GET, ASKED_CREATE, ASKED_TAKE, ASKED_RENEW, ASKED_RELEASE };

struct lease {
	struct lease_config config;
	struct arena arena; /* of config */
	struct buf path, body;

	/* What the last answer showed. */
	bool known; /* there is such a Lease */
	bool fresh; /* nothing happened since that makes us doubt it */
	char *rv, *holder;
	int64_t transitions;
	msec its_duration;
	msec seen; /* when we saw it change */

	bool held;              /* by us, as the server said */
	msec renewed;           /* when the last good write of ours was sent */
	enum lease_asked asked; /* in flight */
	msec sent;
	msec next; /* not before */
	bool releasing, released, reachable;
};

bool lease_config_check(const struct lease_config *c, struct err *e)
{
	if (c->duration < SECONDS(1) || c->duration % SECONDS(1))
		return err_set(e, ERR_INVALID, "the lease duration must be whole seconds, 1 s at least");
	if (c->renew_deadline >= c->duration)
		return err_set(e, ERR_INVALID, "the lease duration must be longer than the renew deadline");
	if (c->retry_period <= 0 || c->retry_period >= c->renew_deadline)
		return err_set(e, ERR_INVALID, "the renew deadline must be longer than the retry period");
	if (str_empty(c->ns) || str_empty(c->name) || str_empty(c->identity))
		return err_set(e, ERR_INVALID, "the lease needs a namespace, a name and an identity");
	return true;
}

struct lease *lease_new(const struct lease_config *c)
{
	struct lease *l = xcalloc(1, sizeof(*l));

	ASSERT(lease_config_check(c, NULL));
	l->config = *c;
	l->config.ns = arena_str(&l->arena, c->ns);
	l->config.name = arena_str(&l->arena, c->name);
	l->config.identity = arena_str(&l->arena, c->identity);
	l->path = (struct buf)BUF_INIT(BODY_MAX);
	l->body = (struct buf)BUF_INIT(BODY_MAX);
	l->reachable = true;
	return l;
}

void lease_free(struct lease *l)
{
	if (!l)
		return;
	arena_release(&l->arena);
	buf_release(&l->path);
	buf_release(&l->body);
	free(l->rv);
	free(l->holder);
	free(l);
}

struct str lease_holder(const struct lease *l)
{
	return str_c(l->holder);
}

bool lease_reachable(const struct lease *l)
{
	return l->reachable;
}

msec lease_leads_until(const struct lease *l)
{
	return l->held && !l->releasing ? l->renewed + l->config.renew_deadline : 0;
}

bool lease_leads(const struct lease *l, msec now)
{
	return now < lease_leads_until(l);
}

void lease_release(struct lease *l)
{
	l->releasing = true;
}

static bool ours(const struct lease *l)
{
	return l->known && l->holder && str_eqc(l->config.identity, l->holder);
}

/* Kubernetes' MicroTime. */
static void put_time(struct buf *b, const char *key, msec wall)
{
	char text[TIME_TEXT];
	struct str s = str_c(time_format(wall, text));

	ASSERT(str_has_suffix(s, STR("Z")));
	buf_printf(b, ",\"%s\":\"%.*s.%03d000Z\"", key, (int)s.n - 1, s.p, (int)(wall % 1000));
}

static void put_path(struct lease *l, bool collection)
{
	buf_clear(&l->path);
	buf_printf(&l->path, "/apis/coordination.k8s.io/v1/namespaces/%.*s/leases", STR_F(l->config.ns));
	if (!collection)
		buf_printf(&l->path, "/%.*s", STR_F(l->config.name));
}

static void put_spec(struct lease *l, bool taken, msec wall)
{
	struct buf *b = &l->body;

	buf_printf(b, "\"spec\":{\"holderIdentity\":");
	buf_json_str(b, l->config.identity);
	buf_printf(b, ",\"leaseDurationSeconds\":%lld", (long long)(l->config.duration / 1000));
	put_time(b, "renewTime", wall);
	if (taken) {
		put_time(b, "acquireTime", wall);
		buf_printf(b, ",\"leaseTransitions\":%lld", (long long)l->transitions + (l->known && !ours(l) ? 1 : 0));
	}
	buf_printf(b, "}}");
}

static void put_body(struct lease *l, enum lease_asked what, msec wall)
{
	struct buf *b = &l->body;

	buf_clear(b);
	switch (what) {
	case ASKED_NOTHING:
	case ASKED_GET:
		break;
	case ASKED_CREATE:
		buf_printf(b, "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":");
		buf_json_str(b, l->config.name);
		buf_printf(b, "},");
		put_spec(l, true, wall);
		break;
	case ASKED_TAKE:
	case ASKED_RENEW:
		buf_printf(b, "{\"metadata\":{\"resourceVersion\":");
		buf_json_str(b, str_c(l->rv));
		buf_printf(b, "},");
		put_spec(l, what == ASKED_TAKE, wall);
		break;
	case ASKED_RELEASE:
		buf_printf(b, "{\"metadata\":{\"resourceVersion\":");
		buf_json_str(b, str_c(l->rv));
		buf_printf(b, "},\"spec\":{\"holderIdentity\":null,\"leaseDurationSeconds\":1");
		put_time(b, "renewTime", wall);
		buf_printf(b, "}}");
		break;
	}
}

static struct lease_wish ask_for_lease(struct lease *l, enum lease_asked what, msec now, msec wall)
{
	static const enum verb verbs[] = {
		[ASKED_GET] = VERB_GET,     [ASKED_CREATE] = VERB_CREATE, [ASKED_TAKE] = VERB_PATCH,
		[ASKED_RENEW] = VERB_PATCH, [ASKED_RELEASE] = VERB_PATCH,
	};
	struct lease_wish w = { .type = LEASE_SEND };

	put_path(l, what == ASKED_CREATE);
	put_body(l, what, wall);
	l->asked = what;
	l->sent = now;
	w.call.verb = verbs[what];
	w.call.path = buf_str(&l->path);
	w.call.body = buf_str(&l->body);
	return w;
}

/* When somebody else's Lease may be taken, as long as it stays as we saw it. */
static msec expiry(const struct lease *l)
{
	return l->holder && *l->holder && !ours(l) ? l->seen + l->its_duration : 0;
}

static struct lease_wish sleep_until(msec at)
{
	return (struct lease_wish){ .type = LEASE_SLEEP, .at = at };
}

static struct lease_wish release_next(struct lease *l, msec now, msec wall)
{
	if (!l->held || l->released)
		return (struct lease_wish){ .type = LEASE_DONE };
	return ask_for_lease(l, l->fresh ? ASKED_RELEASE : ASKED_GET, now, wall);
}

struct lease_wish lease_next(struct lease *l, msec now, msec wall)
{
	if (l->asked != ASKED_NOTHING)
		return (struct lease_wish){ .type = LEASE_BUSY };
	if (l->releasing)
		return release_next(l, now, wall);
	/* Past the deadline it is as if it were somebody else's: what it says now must be read first. */
	if (l->held && !lease_leads(l, now))
		l->held = l->fresh = false;
	if (!l->fresh)
		return now < l->next ? sleep_until(l->next) : ask_for_lease(l, ASKED_GET, now, wall);
	if (l->held)
		return now < l->next ? sleep_until(l->next) : ask_for_lease(l, ASKED_RENEW, now, wall);
	if (!l->known)
		return ask_for_lease(l, ASKED_CREATE, now, wall);
	if (now >= expiry(l))
		return ask_for_lease(l, ASKED_TAKE, now, wall);
	return now < l->next ? sleep_until(MIN(l->next, expiry(l))) : ask_for_lease(l, ASKED_GET, now, wall);
}

static void keep_text(char **to, struct str s)
{
	free(*to);
	*to = xstrndup(str_text(s), s.n);
}

/* Remembers what the server shows. False if it is no Lease. */
static bool look_at_lease(struct lease *l, msec now, yyjson_val *lease)
{
	yyjson_val *spec = json_get(lease, "spec");
	struct str rv = json_str(json_at(lease, "metadata", "resourceVersion", NULL));
	int64_t seconds = 0, transitions = 0;

	if (str_empty(rv))
		return false;
	if (!l->rv || !str_eqc(rv, l->rv))
		l->seen = now;
	keep_text(&l->rv, rv);
	keep_text(&l->holder, json_str(json_get(spec, "holderIdentity")));
	json_int(json_get(spec, "leaseTransitions"), &transitions);
	l->transitions = transitions >= 0 && transitions < INT32_MAX ? transitions : 0;
	/* Without a sane duration of its own ours holds. */
	l->its_duration = l->config.duration;
	if (json_int(json_get(spec, "leaseDurationSeconds"), &seconds) && seconds > 0 && seconds < 86400)
		l->its_duration = SECONDS(seconds);
	l->known = l->fresh = true;
	return true;
}

/* How long until the next try: a standby looks twice as often as a leader renews, so that a Lease that was
   given away is found soon. */
static msec pause(const struct lease *l)
{
	return l->held ? l->config.retry_period : MAX(l->config.retry_period / 2, 1);
}

static void got(struct lease *l, msec now, int code, yyjson_val *answer)
{
	if (code == HTTP_NOT_FOUND) {
		l->held = l->known = false;
		l->fresh = true;
	} else if (code == HTTP_OK && look_at_lease(l, now, answer)) {
		l->held = l->held && ours(l);
		l->next = l->held ? now : now + pause(l);
	} else {
		l->next = now + pause(l);
	}
}

static void wrote(struct lease *l, msec now, int code, yyjson_val *answer)
{
	if ((code == HTTP_OK || code == HTTP_CREATED) && look_at_lease(l, now, answer) && ours(l)) {
		l->held = true;
		l->renewed = l->sent;
		l->next = l->sent + l->config.retry_period;
		return;
	}
	/* Somebody else wrote, or it is not known whether we did: it is read before anything else. Nobody may
	   take it from a leader before the deadline, but a Lease that was deleted is anybody's. */
	l->fresh = false;
	if (code == HTTP_NOT_FOUND)
		l->held = false;
	l->next = code == HTTP_CONFLICT || code == HTTP_NOT_FOUND ? now : now + pause(l);
}

void lease_answer(struct lease *l, msec now, int code, yyjson_val *answer)
{
	enum lease_asked asked = l->asked;

	l->asked = ASKED_NOTHING;
	l->reachable = code != 0;
	switch (asked) {
	case ASKED_NOTHING:
		break;
	case ASKED_GET:
		got(l, now, code, answer);
		break;
	case ASKED_CREATE:
	case ASKED_TAKE:
	case ASKED_RENEW:
		wrote(l, now, code, answer);
		break;
	case ASKED_RELEASE:
		l->released = true;
		break;
	}
	/* One try: whoever waits for the end does not wait for a server that is away. */
	if (l->releasing && !l->fresh)
		l->released = true;
}
