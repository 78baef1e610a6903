/* What an API server answers where there is no object to show: meta/v1's Status. */
#ifndef OBJECT_STATUS_H
#define OBJECT_STATUS_H

#include "base/buf.h"
#include "base/http_code.h"

struct status {
	enum http_code code; /* below 400: Success */
	const char *reason;  /* NULL: none */
	struct str message;  /* empty: none */
	struct str details;  /* an object as JSON; empty: none */
};

/* Kubernetes' word for CODE; empty if it has none. */
const char *status_reason(enum http_code code);
/* Appends it. As Kubernetes does, 200 is not mentioned. */
void status_put(struct buf *to, const struct status *s);

#endif
