/* fieldValidation: what of a body Kubernetes would not take. */
#ifndef LOCAL_API_STRICT_H
#define LOCAL_API_STRICT_H

#include "local/api/internal.h"

/* Looks at the body of a create, an update or a patch (not a JSON patch) of a job or a pod. False: it has been
   answered. Fields that nobody knows are refused, told in Warning headers, or ignored, as the query says; wrong types
   are refused always. */
bool strict_check(struct api_answering *q, struct str body);
/* The same of what a JSON patch makes of an object: R asks for it. */
void strict_patch(struct api_answering *q, struct store_request *r);

#endif
