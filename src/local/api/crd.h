/* What the CRD of a custom type says about one of its versions. */
#ifndef LOCAL_API_CRD_H
#define LOCAL_API_CRD_H

#include "base/json.h"
#include "local/store/store.h"

/* The element of spec.versions; NULL: there is no CRD. It lives as long as *DOC, which the caller frees. */
yyjson_val *crd_version(struct store *s, const struct store_type *t, yyjson_doc **doc);

#endif
