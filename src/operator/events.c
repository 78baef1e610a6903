#include "base/http_code.h"
#include "operator/events.h"

#include "base/buf.h"
#include "base/map.h"

enum {
	MESSAGE_MAX = 1024, /* what the API takes */
	BODY_MAX = 16384,
	NAME_KEPT = 200,
	TRIES_MAX = 3,
	BURST = 50,
	PER_SECOND = 10,
};

/* Between two writes of one event; how long creates are gathered before the first. */
static const msec write_interval = SECONDS(10), gather_first = SECONDS(1);

struct event {
	bool used, exists, in_flight;
	char *key; /* job's UID, reason, and what else must be the same to be counted with it */
	char *ns, *name, *message;
	char *about; /* involvedObject, JSON */
	const char *reason;
	bool warning;
	int64_t count, written, writing;
	int tries;
	msec first, last; /* wall */
	msec due;         /* NEVER: nothing to write */
	msec touched;
	uint64_t serial;
};

struct events {
	const struct kinds *kinds;
	char *instance;
	struct event table[EVENTS_MAX];
	struct map by_key;
	struct buf path, body;
	uint64_t serial, dropped;
	size_t in_flight;
	double tokens;
	msec refilled, next_due;
};

struct events *events_new(const struct kinds *kinds, struct str instance)
{
	struct events *v = xcalloc(1, sizeof(*v));

	v->kinds = kinds;
	v->instance = xstrndup(str_text(instance), MIN(instance.n, (size_t)128));
	v->path = (struct buf)BUF_INIT(BODY_MAX);
	v->body = (struct buf)BUF_INIT(BODY_MAX);
	v->tokens = BURST;
	v->next_due = NEVER;
	return v;
}

static void drop(struct events *v, struct event *ev)
{
	map_del(&v->by_key, str_c(ev->key));
	free(ev->key);
	free(ev->ns);
	free(ev->name);
	free(ev->message);
	free(ev->about);
	*ev = (struct event){ 0 };
}

void events_free(struct events *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < EVENTS_MAX; i++)
		if (v->table[i].used)
			drop(v, &v->table[i]);
	map_release(&v->by_key);
	buf_release(&v->path);
	buf_release(&v->body);
	free(v->instance);
	free(v);
}

uint64_t events_dropped(const struct events *v)
{
	return v->dropped;
}

/* A free place: an empty one, or that of the event which has been quiet for longest. NULL: all have something to say.
 */
static struct event *make_room(struct events *v)
{
	struct event *oldest = NULL;

	for (size_t i = 0; i < EVENTS_MAX; i++) {
		struct event *ev = &v->table[i];

		if (!ev->used)
			return ev;
		if (!ev->in_flight && ev->count == ev->written && (!oldest || ev->touched < oldest->touched))
			oldest = ev;
	}
	if (oldest)
		drop(v, oldest);
	return oldest;
}

static char *about(const struct events *v, const struct observer_sight *s)
{
	const struct kind *k = kinds_by_id(v->kinds, s->kind);
	struct buf b = BUF_INIT(BODY_MAX);
	char *text;

	if (!k)
		return NULL;
	buf_printf(&b, "{\"apiVersion\":\"%.*s/%.*s\",\"kind\":\"%.*s\",\"namespace\":", STR_F(k->group),
	           STR_F(k->version), STR_F(k->kind));
	buf_json_str(&b, s->job->ns);
	buf_printf(&b, ",\"name\":");
	buf_json_str(&b, s->job->name);
	buf_printf(&b, ",\"uid\":");
	buf_json_str(&b, s->job->uid);
	buf_printf(&b, "}");
	text = xstrndup(b.p, b.n);
	buf_release(&b);
	return text;
}

static void put_name(struct events *v, struct event *ev, struct str job)
{
	struct buf b = BUF_INIT(512);
	uint64_t hash = str_hash(str_c(ev->key)) ^ (uint64_t)ev->first * 0x9e3779b97f4a7c15 ^ ++v->serial;

	buf_printf(&b, "%.*s.%016llx", (int)MIN(job.n, (size_t)NAME_KEPT), str_text(job), (unsigned long long)hash);
	free(ev->name);
	ev->name = xstrndup(b.p, b.n);
	buf_release(&b);
}

static struct event *make(struct events *v, const struct observer_sight *s, struct str key, msec wall)
{
	char *object = about(v, s);
	struct event *ev = object ? make_room(v) : NULL;

	if (!ev) {
		v->dropped++;
		free(object);
		return NULL;
	}
	*ev = (struct event){ .used = true, .due = NEVER, .first = wall, .about = object };
	ev->key = xstrndup(key.p, key.n);
	ev->ns = xstrndup(str_text(s->job->ns), s->job->ns.n);
	put_name(v, ev, s->job->name);
	ev->serial = v->serial;
	map_put(&v->by_key, str_c(ev->key), ev);
	return ev;
}

/* At most so much of it, whole characters only. */
static struct str clip(struct str s)
{
	size_t n = 0, step;

	if (s.n <= MESSAGE_MAX)
		return s;
	while ((step = str_utf8_len(str_sub(s, n, s.n))) && n + step <= MESSAGE_MAX)
		n += step;
	return str_sub(s, 0, n);
}

struct what {
	const char *reason;
	bool warning;
	bool gather; /* many come at once */
};

/* Once more what is the same in its reason and OF: a sort of objects, one of them, or all that the message says.
   NULL: there is no room. */
static struct event *count_event(struct events *v, const struct observer_sight *s, const struct what *what,
                                 struct str of, msec wall)
{
	struct buf key = BUF_INIT(2048);
	struct event *ev;

	buf_printf(&key, "%.*s/%s/%.*s", STR_F(s->job->uid), what->reason, STR_F(of));
	ev = map_get(&v->by_key, buf_str(&key));
	if (!ev)
		ev = make(v, s, buf_str(&key), wall);
	buf_release(&key);
	if (ev)
		ev->count++;
	return ev;
}

static void say_event(struct events *v, struct event *ev, const struct what *what, struct str message, msec now,
                      msec wall)
{
	message = clip(message);
	free(ev->message);
	ev->message = xstrndup(str_text(message), message.n);
	ev->reason = what->reason;
	ev->warning = what->warning;
	ev->last = wall;
	ev->touched = now;
	ev->tries = 0;
	if (ev->due == NEVER)
		ev->due = now + (ev->written ? write_interval : what->gather ? gather_first : 0);
	v->next_due = MIN(v->next_due, ev->due);
}

/* Of one thing OF: the message is of the last time. */
static void record_of(struct events *v, const struct observer_sight *s, const struct what *what, struct str of,
                      struct str message, msec now, msec wall)
{
	struct event *ev = count_event(v, s, what, of, wall);

	if (ev)
		say_event(v, ev, what, message, now, wall);
}

/* Of the job. */
static void record_event(struct events *v, const struct observer_sight *s, const struct what *what, struct str message,
                         msec now, msec wall)
{
	record_of(v, s, what, STR_NONE, message, now, wall);
}

/* What was done to many objects of one sort is one event, which says of how many. */
static void record_many(struct events *v, const struct observer_sight *s, const struct what *what, const char *done,
                        msec now, msec wall)
{
	const char *noun = resource_noun(s->resource);
	struct event *ev = count_event(v, s, what, str_c(noun), wall);
	struct buf text = BUF_INIT(8192);

	if (ev && ev->count > 1)
		buf_printf(&text, "%s %lld %ss, the last %.*s", done, (long long)ev->count, noun, STR_F(s->object));
	else
		buf_printf(&text, "%s %s %.*s", done, noun, STR_F(s->object));
	if (ev)
		say_event(v, ev, what, buf_str(&text), now, wall);
	buf_release(&text);
}

static void see_answer(struct events *v, const struct observer_sight *s, msec now, msec wall)
{
	static const struct what created = { "SuccessfulCreate", false, true },
				 deleted = { "SuccessfulDelete", false, true },
				 failed = { "FailedCreate", true, false }, kept = { "FailedDelete", true, false };
	bool child = resource_is_child(s->resource);
	bool refused = child && s->code >= 400 && s->code != HTTP_CONFLICT && s->code != HTTP_TOO_MANY;
	bool good = http_is_good(s->code);
	struct buf text = BUF_INIT(8192);

	if (child && s->verb == VERB_CREATE && good) {
		record_many(v, s, &created, "Created", now, wall);
	} else if (child && s->verb == VERB_DELETE && good) {
		record_many(v, s, &deleted, "Deleted", now, wall);
	} else if (refused && (s->verb == VERB_CREATE || (s->verb == VERB_DELETE && s->code != HTTP_NOT_FOUND))) {
		buf_printf(&text, "Could not %s %s %.*s: %.*s", s->verb == VERB_CREATE ? "create" : "delete",
		           resource_noun(s->resource), STR_F(s->object), (int)MIN(s->message.n, (size_t)4096),
		           str_text(s->message));
		record_of(v, s, s->verb == VERB_CREATE ? &failed : &kept, s->object, buf_str(&text), now, wall);
	}
	buf_release(&text);
}

/* The same end of the same replica is counted; others are events of their own. */
static void see_restart(struct events *v, const struct observer_sight *s, const struct restart_note *note, msec now,
                        msec wall)
{
	static const struct what restarting = { "Restarting", true, false };
	static const char *const scopes[] = {
		[SCOPE_POD] = "its pod restarts",
		[SCOPE_ROLE] = "its role restarts",
		[SCOPE_JOB] = "the job restarts",
	};
	struct buf text = BUF_INIT(1024);

	buf_printf(&text, "%.*s-%d: %s", STR_F(note->role), note->index, cause_name(note->cause));
	if (note->exit_code >= 0)
		buf_printf(&text, ", exit code %d", note->exit_code);
	buf_printf(&text, "; %s", scopes[note->scope]);
	record_of(v, s, &restarting, buf_str(&text), buf_str(&text), now, wall);
	buf_release(&text);
}

/* All since the last record, the oldest first; of many at once the last that the record keeps. */
static void see_restarts(struct events *v, const struct observer_sight *s, msec now, msec wall)
{
	static const struct what resized = { "Resized", false, false };
	const struct restart_note *note, *told[RECORD_RESTARTS];
	int32_t n = s->after->raised - s->before->raised, found = 0;

	for (size_t i = 0; found < n && (note = record_restart(s->record, i)); i++)
		if (note->cause < CAUSE_RESIZED)
			told[found++] = note;
	while (found > 0)
		see_restart(v, s, told[--found], now, wall);
	if (s->after->restarts[CAUSE_RESIZED] > s->before->restarts[CAUSE_RESIZED])
		record_event(v, s, &resized, s->record->reason, now, wall);
}

static void see_record(struct events *v, const struct observer_sight *s, msec now, msec wall)
{
	static const struct what phases[PHASE_COUNT] = {
		[PHASE_INVALID] = { "Invalid", true, false },      [PHASE_RUNNING] = { "Running", false, false },
		[PHASE_SUSPENDED] = { "Suspended", false, false }, [PHASE_SUCCEEDED] = { "Completed", false, false },
		[PHASE_FAILED] = { "Failed", true, false },        [PHASE_TIMED_OUT] = { "TimedOut", true, false },
		[PHASE_PREEMPTED] = { "Preempted", true, false },  [PHASE_NODE_FAILED] = { "NodeFailed", true, false },
	};
	const struct what *what = &phases[s->after->phase];

	see_restarts(v, s, now, wall);
	if (what->reason && s->before->phase != s->after->phase)
		record_event(v, s, what, s->record->reason, now, wall);
}

void events_see(struct events *v, const struct observer_sight *s, msec now, msec wall)
{
	static const struct what left = { "LeftAlone", true, false }, taken = { "NameTaken", true, false },
				 odd = { "OtherScheduler", true, false }, unread = { "Unreadable", true, false },
				 spared = { "WouldBeInvalid", true, false }, status = { "StatusRefused", true, false };

	switch (s->type) {
	case SIGHT_PASS:
		break;
	case SIGHT_ANSWER:
		see_answer(v, s, now, wall);
		break;
	case SIGHT_RECORD:
		see_record(v, s, now, wall);
		break;
	case SIGHT_LEFT:
		record_event(v, s, &left, s->message, now, wall);
		break;
	case SIGHT_TAKEN:
		record_event(v, s, &taken, s->message, now, wall);
		break;
	case SIGHT_STATUS:
		record_event(v, s, &status, s->message, now, wall);
		break;
	case SIGHT_ODD:
		record_event(v, s, &odd, s->message, now, wall);
		break;
	case SIGHT_SPARED:
		record_event(v, s, &spared, s->message, now, wall);
		break;
	case SIGHT_UNREAD:
		record_event(v, s, &unread, s->message, now, wall);
		break;
	}
}

static void put_call(struct events *v, struct event *ev, struct api_call *ret)
{
	char first[TIME_TEXT], last[TIME_TEXT];
	struct buf *b = &v->body;

	buf_clear(&v->path);
	buf_clear(b);
	buf_printf(&v->path, "/api/v1/namespaces/%s/events", ev->ns);
	if (ev->exists)
		buf_printf(&v->path, "/%s", ev->name);
	buf_printf(b, "{");
	if (!ev->exists) {
		buf_printf(b, "\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":");
		buf_json_str(b, str_c(ev->name));
		buf_printf(b,
		           "},\"involvedObject\":%s,\"reason\":\"%s\",\"type\":\"%s\",\"firstTimestamp\":\"%s\","
		           "\"source\":{\"component\":\"dl-operator\"},\"reportingComponent\":\"dl-operator\","
		           "\"reportingInstance\":",
		           ev->about, ev->reason, ev->warning ? "Warning" : "Normal", time_format(ev->first, first));
		buf_json_str(b, str_c(v->instance));
		buf_printf(b, ",");
	}
	buf_printf(b, "\"count\":%lld,\"lastTimestamp\":\"%s\",\"message\":", (long long)ev->count,
	           time_format(ev->last, last));
	buf_json_str(b, str_c(ev->message));
	buf_printf(b, "}");
	*ret = (struct api_call){ ev->exists ? VERB_PATCH : VERB_CREATE, buf_str(&v->path), buf_str(b) };
}

static bool have_token(struct events *v, msec now)
{
	v->tokens = MIN(v->tokens + (double)(now - v->refilled) * PER_SECOND / 1000, (double)BURST);
	v->refilled = now;
	return v->tokens >= 1;
}

/* The one that has been due for longest, and when the first one is due that is not in flight. */
static struct event *first_due(struct events *v, msec now)
{
	struct event *first = NULL;

	v->next_due = NEVER;
	for (size_t i = 0; i < EVENTS_MAX; i++) {
		struct event *ev = &v->table[i];

		if (ev->used && !ev->in_flight && ev->due < v->next_due) {
			v->next_due = ev->due;
			first = ev;
		}
	}
	return first && first->due <= now ? first : NULL;
}

bool events_next(struct events *v, msec now, struct api_call *ret, uint64_t *id, msec *at)
{
	struct event *ev;

	*at = NEVER;
	if (v->in_flight >= EVENTS_IN_FLIGHT || v->next_due == NEVER)
		return false;
	if (now < v->next_due) {
		*at = v->next_due;
		return false;
	}
	if (!have_token(v, now)) {
		*at = now + 1000 / PER_SECOND;
		return false;
	}
	ev = first_due(v, now);
	if (!ev) {
		*at = v->next_due;
		return false;
	}
	v->tokens -= 1;
	v->in_flight++;
	ev->in_flight = true;
	ev->writing = ev->count;
	ev->due = NEVER;
	put_call(v, ev, ret);
	*id = ev->serial << 10 | (uint64_t)(ev - v->table);
	/* Others may be due as well. */
	v->next_due = now;
	return true;
}

void events_answer(struct events *v, msec now, uint64_t id, int code)
{
	struct event *ev = &v->table[id % EVENTS_MAX];

	ASSERT(ev->used && ev->in_flight && ev->serial == id >> 10);
	ev->in_flight = false;
	v->in_flight--;
	if (http_is_good(code) || (code == HTTP_CONFLICT && !ev->exists)) {
		ev->exists = true;
		ev->written = ev->writing;
	} else if (code == HTTP_NOT_FOUND && ev->exists) {
		/* Its time was over: the next one is a new one. */
		ev->exists = false;
	} else if (http_is_client_error(code) && code != HTTP_TOO_MANY) {
		ev->written = ev->writing;
	} else if (++ev->tries >= TRIES_MAX) {
		ev->written = ev->count;
	}
	ev->due = ev->count > ev->written ? now + write_interval : NEVER;
	v->next_due = MIN(v->next_due, ev->due);
}
