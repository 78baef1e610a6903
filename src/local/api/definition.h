/* What the definition of a custom type says about one of its versions. */
#ifndef LOCAL_API_DEFINITION_H
#define LOCAL_API_DEFINITION_H

#include "base/json.h"
#include "local/store/store.h"

/* The element of spec.versions; NULL: there is no definition. It lives as long as *DOC, which the caller frees. */
yyjson_val *definition_version(struct store *s, const struct store_type *t, yyjson_doc **doc);

#endif
