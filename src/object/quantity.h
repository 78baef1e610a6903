/* Kubernetes' quantities: a decimal number with a suffix. "500m", "1Gi", "2e3", 4. */
#ifndef OBJECT_QUANTITY_H
#define OBJECT_QUANTITY_H

#include "base/str.h"

#include <yyjson.h>

/* In thousandths, rounded up. False if it is no quantity, is negative, or is too large. */
bool quantity_read(yyjson_val *v, int64_t *ret_milli);

/* For sums, which are larger. Never negative; what is too large stays the largest. */
struct quantity {
	int64_t whole;
	int32_t milli; /* 0 to 999 */
};

struct quantity quantity_of(int64_t milli);
struct quantity quantity_sum(struct quantity a, struct quantity b);
/* N is not negative. */
struct quantity quantity_times(struct quantity q, int32_t n);
/* <0, 0, >0 */
int quantity_cmp(struct quantity a, struct quantity b);

enum { QUANTITY_TEXT = 32 };
/* As text, in RET. BINARY: bytes, with Ki, Mi … where nothing is lost. */
struct str quantity_write(struct quantity q, bool binary, char ret[static QUANTITY_TEXT]);

#endif
