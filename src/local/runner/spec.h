/* A pod's object as what to run here: local/pod does the work, we know what this machine has to give. */
#ifndef LOCAL_RUNNER_SPEC_H
#define LOCAL_RUNNER_SPEC_H

#include "local/runner/state.h"

struct spec_docs {
	VEC(yyjson_doc *) all;
};
/* True: it can be prepared. DOCS begins empty, and must live as long as RET. */
bool spec_make(struct runner *r, struct runner_pod *p, struct pod_spec *ret, struct spec_docs *docs,
               struct pod_refusal *why, struct err *e);
void spec_docs_release(struct spec_docs *docs);
/* On the machine's own network every port is there once. */
bool spec_take_ports(struct runner *r, struct runner_pod *p, struct err *e);

#endif
