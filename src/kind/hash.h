/* Short texts that stand for long ones in names: the same for ever, on every machine. Not for secrets. */
#ifndef KIND_HASH_H
#define KIND_HASH_H

#include "base/str.h"

enum { HASH_MAX = 32 };

/* N characters of [0-9a-z], derived from S. */
void hash_text(struct str s, char *out, size_t n);

#endif
