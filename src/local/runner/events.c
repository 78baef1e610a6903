#include "local/runner/events.h"

#include "base/http_code.h"
#include "local/runner/call.h"

#include <stdarg.h>

enum { MESSAGE_MAX = 1024, BODY_MAX = 16384, NAME_KEPT = 200 };

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

static void repeat_event(struct runner *r, const struct store_request *create, const char *name, struct str message)
{
	yyjson_doc *old = runner_read(r, r->event_type, create->ns, str_c(name));
	struct buf b = BUF_INIT(BODY_MAX);
	char now[TIME_TEXT];
	int64_t count = 1;

	json_int(json_get(yyjson_doc_get_root(old), "count"), &count);
	yyjson_doc_free(old);
	buf_printf(&b, "{\"count\":%lld,\"lastTimestamp\":\"%s\",\"message\":", (long long)count + 1,
	           time_format(clock_now(r->c.clock), now));
	buf_json_str(&b, message);
	buf_printf(&b, "}");
	runner_ask(r,
	           &(struct store_request){ .verb = STORE_PATCH,
	                                    .type = r->event_type,
	                                    .ns = create->ns,
	                                    .name = str_c(name),
	                                    .patch = STORE_PATCH_MERGE,
	                                    .urgent = create->urgent,
	                                    .body = buf_str(&b) },
	           NULL);
	buf_release(&b);
}

static void put_body(struct runner *r, struct buf *b, const struct runner_pod *p, enum runner_event type,
                     const char *reason, const char *name, struct str message)
{
	char now[TIME_TEXT];

	time_format(clock_now(r->c.clock), now);
	buf_printf(b,
	           "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"%s\"},\"involvedObject\":{"
	           "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"%s\"},"
	           "\"reason\":\"%s\",\"type\":\"%s\",\"count\":1,\"firstTimestamp\":\"%s\",\"lastTimestamp\":\"%s\","
	           "\"source\":{\"component\":\"dljob\"},\"reportingComponent\":\"dljob\",\"reportingInstance\":",
	           name, p->ns, p->name, p->uid, reason, type == EVENT_WARNING ? "Warning" : "Normal", now, now);
	buf_json_str(b, r->node);
	buf_printf(b, ",\"message\":");
	buf_json_str(b, message);
	buf_printf(b, "}");
}

void event_say(struct runner *r, const struct runner_pod *p, enum runner_event type, const char *reason, struct str sub,
               const char *fmt, ...)
{
	struct store_request q = {
		.verb = STORE_CREATE, .type = r->event_type, .ns = str_c(p->ns), .urgent = type == EVENT_WARNING
	};
	struct buf b = BUF_INIT(BODY_MAX);
	char text[4 * MESSAGE_MAX], name[NAME_KEPT + 32];
	struct str message;
	uint64_t hash;
	va_list args;

	if (p->gone || !p->object)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	message = clip(str_c(text));
	hash = str_hash(str_c(p->uid)) ^ str_hash(str_c(reason)) * 3 ^ str_hash(sub) * 7;
	snprintf(name, sizeof(name), "%.*s.%016llx", NAME_KEPT, p->name, (unsigned long long)hash);
	put_body(r, &b, p, type, reason, name, message);
	q.body = buf_str(&b);
	if (runner_ask(r, &q, NULL) == HTTP_CONFLICT)
		repeat_event(r, &q, name, message);
	buf_release(&b);
}
