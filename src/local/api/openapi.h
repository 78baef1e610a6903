/* OpenAPI, as far as kubectl asks for it: which parameters a type's addresses take (kubectl leaves validation to a
   server that takes fieldValidation), and the schemas of definitions, for `kubectl explain`. */
#ifndef LOCAL_API_OPENAPI_H
#define LOCAL_API_OPENAPI_H

#include "local/store/store.h"

/* The list of documents, one for each group and version. */
void openapi_index(struct buf *b, const struct store *s);
void openapi_group(struct buf *b, struct store *s, struct str group, struct str version);

#endif
