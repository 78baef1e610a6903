/* Calls that are not of cluster.h (Leases, CRDs, Events), as values: whoever owns the connection
   sends them and brings the answer back. */
#ifndef OPERATOR_CALL_H
#define OPERATOR_CALL_H

#include "cluster/cluster.h"

struct api_call {
	enum verb verb;  /* GET, CREATE, DELETE or PATCH (a JSON merge patch) */
	struct str path; /* of the object; CREATE: of the collection */
	struct str body;
};

#endif
