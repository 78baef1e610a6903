#include "logs/request.h"

#include "base/clock.h"

void log_request_path(struct buf *out, const struct log_request *q)
{
	char time[TIME_TEXT];

	buf_printf(out, "/api/v1/namespaces/%.*s/pods/%.*s/log?timestamps=true&container=%.*s", STR_F(q->ns),
	           STR_F(q->pod), STR_F(q->container));
	if (q->follow)
		buf_put(out, STR("&follow=true"));
	if (q->previous)
		buf_put(out, STR("&previous=true"));
	if (q->since_time)
		buf_printf(out, "&sinceTime=%s", time_format(q->since_time / 1000000, time));
	else if (q->since)
		buf_printf(out, "&sinceSeconds=%lld", (long long)q->since);
	if (q->tail >= 0)
		buf_printf(out, "&tailLines=%d", q->tail);
}
