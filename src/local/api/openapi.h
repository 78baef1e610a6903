/* OpenAPI, as far as kubectl asks for it: which parameters a type's addresses take (kubectl leaves validation to a
   server that takes fieldValidation), and the schemas of CRDs, for `kubectl explain`. */
#ifndef LOCAL_API_OPENAPI_H
#define LOCAL_API_OPENAPI_H

#include "local/store/store.h"

/* The list of documents, one for each group and version. */
void openapi_index(struct buf *b, const struct store *s);
void openapi_group(struct buf *b, struct store *s, struct str group, struct str version);

/* Version 2 as protobuf, empty. kubectl asks for it before it sends a type that the other documents do not have, and
   would report whatever goes wrong there instead of "no matches for kind". */
#define OPENAPI_V2_ACCEPT "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
/* '@' may not stand in a media type that is sent; an API server says it so. */
#define OPENAPI_V2_CONTENT "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
void openapi_v2(struct buf *b);

#endif
