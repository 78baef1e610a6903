/* metav1.Status: what the API answers where there is no object to show. */
#ifndef LOCAL_API_STATUS_H
#define LOCAL_API_STATUS_H

#include "object/status.h"

/* Appends a Status of failure, its reason by the code. */
void api_status(struct buf *b, int code, struct str message);
void api_statusf(struct buf *b, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
