/* Label and field selectors, as they stand in a query. */
#ifndef LOCAL_STORE_SELECT_H
#define LOCAL_STORE_SELECT_H

#include "local/store/state.h"

/* In A; NULL with *E: it makes no sense. */
struct selector *selector_new(const struct stored_type *t, struct str labels, struct str fields, struct arena *a,
                              struct err *e);
bool selector_empty(const struct selector *s);
bool selector_matches(const struct selector *s, yyjson_val *root);
/* Is it the same for every selector? */
bool selector_same(const struct stored_type *t, yyjson_val *a, yyjson_val *b);

#endif
