/* kubectl sends what it makes itself (`create namespace`, `create configmap`, `create secret`) as protobuf and in no
   other form: those few messages as JSON. */
#ifndef LOCAL_API_PROTOBUF_H
#define LOCAL_API_PROTOBUF_H

#include "base/buf.h"
#include "base/err.h"

/* Can objects of this kind (of the core group) be read? */
bool protobuf_knows(struct str kind);
/* BODY: "k8s\0" and a runtime.Unknown. Appends the object as JSON. False, with *E: it is damaged, of another kind, or
   holds a field that is not known here: nothing is dropped in silence. */
bool protobuf_to_json(struct str kind, struct str body, struct buf *out, struct err *e);

#endif
