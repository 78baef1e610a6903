#include "base/err.h"

#include <stdarg.h>

static char *PRINTF_LIKE(1, 0) format(const char *fmt, va_list ap)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	ASSERT(n >= 0);
	s = xmalloc((size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

bool err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	va_list ap;
	char *msg;

	if (!e)
		return false;
	va_start(ap, fmt);
	msg = format(fmt, ap);
	va_end(ap);
	free(e->msg);
	e->msg = msg;
	e->code = code;
	return false;
}

bool err_wrap(struct err *e, const char *fmt, ...)
{
	va_list ap;
	char *context, *msg;
	size_t n, m;

	if (!e || !e->msg)
		return false;
	va_start(ap, fmt);
	context = format(fmt, ap);
	va_end(ap);
	n = strlen(context);
	m = strlen(e->msg);
	msg = xmalloc(n + 2 + m + 1);
	memcpy(msg, context, n);
	memcpy(msg + n, ": ", 2);
	memcpy(msg + n + 2, e->msg, m + 1);
	free(context);
	free(e->msg);
	e->msg = msg;
	return false;
}

const char *err_msg(const struct err *e)
{
	return e && e->msg ? e->msg : "no error";
}

void err_release(struct err *e)
{
	free(e->msg);
	*e = (struct err)ERR_INIT;
}
