#include "object/status.h"

static const struct {
	enum http_code code;
	const char *reason;
} reasons[] = {
	{ HTTP_BAD_REQUEST, "BadRequest" },
	{ HTTP_UNAUTHORIZED, "Unauthorized" },
	{ HTTP_FORBIDDEN, "Forbidden" },
	{ HTTP_NOT_FOUND, "NotFound" },
	{ HTTP_NOT_ALLOWED, "MethodNotAllowed" },
	{ HTTP_NOT_ACCEPTABLE, "NotAcceptable" },
	{ HTTP_CONFLICT, "Conflict" },
	{ HTTP_GONE, "Expired" },
	{ HTTP_TOO_LARGE, "RequestEntityTooLarge" },
	{ HTTP_UNSUPPORTED, "UnsupportedMediaType" },
	{ HTTP_INVALID, "Invalid" },
	{ HTTP_TOO_MANY, "TooManyRequests" },
	{ HTTP_SERVER_ERROR, "InternalError" },
	{ HTTP_UNAVAILABLE, "ServiceUnavailable" },
	{ HTTP_GATEWAY_TIMEOUT, "Timeout" },
};

const char *status_reason(enum http_code code)
{
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i].code == code)
			return reasons[i].reason;
	return "";
}

void status_put(struct buf *to, const struct status *s)
{
	buf_printf(to, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"%s\"",
	           s->code < HTTP_BAD_REQUEST ? "Success" : "Failure");
	if (s->message.n) {
		buf_put(to, STR(",\"message\":"));
		buf_json_str(to, s->message);
	}
	if (s->reason)
		buf_printf(to, ",\"reason\":\"%s\"", s->reason);
	if (s->details.n) {
		buf_put(to, STR(",\"details\":"));
		buf_put(to, s->details);
	}
	if (s->code != HTTP_OK)
		buf_printf(to, ",\"code\":%d", (int)s->code);
	buf_putc(to, '}');
}
