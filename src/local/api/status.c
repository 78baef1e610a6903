#include "local/api/status.h"

#include <stdarg.h>

static const struct {
	int code;
	const char *reason;
} reasons[] = {
	{ API_BAD_REQUEST, "BadRequest" },
	{ API_UNAUTHORIZED, "Unauthorized" },
	{ API_NOT_FOUND, "NotFound" },
	{ API_NOT_ALLOWED, "MethodNotAllowed" },
	{ API_NOT_ACCEPTABLE, "NotAcceptable" },
	{ API_CONFLICT, "Conflict" },
	{ API_GONE, "Expired" },
	{ API_TOO_LARGE, "RequestEntityTooLarge" },
	{ API_UNSUPPORTED, "UnsupportedMediaType" },
	{ API_INVALID, "Invalid" },
	{ API_TOO_MANY, "TooManyRequests" },
	{ API_INTERNAL, "InternalError" },
	{ API_TIMEOUT, "Timeout" },
};

const char *api_reason(int code)
{
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i].code == code)
			return reasons[i].reason;
	return "";
}

void api_status(struct buf *b, int code, struct str message)
{
	buf_put(b,
	        STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":"));
	buf_json_str(b, message);
	buf_printf(b, ",\"reason\":\"%s\",\"code\":%d}", api_reason(code), code);
}

void api_statusf(struct buf *b, int code, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	api_status(b, code, str_c(text));
}
