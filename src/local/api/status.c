#include "local/api/status.h"

#include <stdarg.h>

void api_status(struct buf *b, int code, struct str message)
{
	enum http_code named = (enum http_code)code;

	status_put(b, &(struct status){ .code = named, .reason = status_reason(named), .message = message });
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
