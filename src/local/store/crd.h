/* CustomResourceDefinitions: checked, given their status, and made types. */
#ifndef LOCAL_STORE_CRD_H
#define LOCAL_STORE_CRD_H

#include "local/store/state.h"

bool crd_prepare(struct store_call *c, yyjson_val *before, yyjson_mut_doc *doc);
/* Makes the types those of the stored CRDs. */
void crd_load(struct store *s);

#endif
