/* metav1.Status: what the API answers where there is no object to show. */
#ifndef LOCAL_API_STATUS_H
#define LOCAL_API_STATUS_H

#include "base/buf.h"

enum {
	API_OK = 200,
	API_CREATED = 201,
	API_BAD_REQUEST = 400,
	API_UNAUTHORIZED = 401,
	API_NOT_FOUND = 404,
	API_NOT_ALLOWED = 405,
	API_NOT_ACCEPTABLE = 406,
	API_CONFLICT = 409,
	API_GONE = 410,
	API_TOO_LARGE = 413,
	API_UNSUPPORTED = 415,
	API_INVALID = 422,
	API_TOO_MANY = 429,
	API_INTERNAL = 500,
	API_TIMEOUT = 504,
};

/* Kubernetes' word for the code; empty if it has none. */
const char *api_reason(int code);
/* Appends a Status of failure, its reason by the code. */
void api_status(struct buf *b, int code, struct str message);
void api_statusf(struct buf *b, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
