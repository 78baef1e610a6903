/* What a server answers, as HTTP and Kubernetes number it. */
#ifndef BASE_HTTP_CODE_H
#define BASE_HTTP_CODE_H

#include "base/util.h"

enum http_code {
	HTTP_OK = 200,
	HTTP_CREATED = 201,
	HTTP_BAD_REQUEST = 400, /* also what a webhook says that sets no code */
	HTTP_UNAUTHORIZED = 401,
	HTTP_FORBIDDEN = 403, /* a right that is missing, a quota, an admission plugin */
	HTTP_NOT_FOUND = 404,
	HTTP_NOT_ALLOWED = 405,
	HTTP_NOT_ACCEPTABLE = 406,
	HTTP_TIMEOUT = 408,
	HTTP_CONFLICT = 409, /* AlreadyExists, or another version or UID than was said */
	HTTP_GONE = 410,     /* a resourceVersion that the server does not remember */
	HTTP_TOO_LARGE = 413,
	HTTP_UNSUPPORTED = 415,
	HTTP_INVALID = 422,
	HTTP_TOO_MANY = 429,
	HTTP_SERVER_ERROR = 500, /* … and above */
	HTTP_UNAVAILABLE = 503,
	HTTP_GATEWAY_TIMEOUT = 504,
};

static inline bool http_is_good(int code)
{
	return code >= 200 && code < 300;
}

/* The request itself is at fault, or not allowed: sent again it would be answered the same way. 429 is one, too. */
static inline bool http_is_client_error(int code)
{
	return code >= 400 && code < 500;
}

#endif
