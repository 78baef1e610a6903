/* Names: which pods and services there are goes to local/net, which keeps the hosts files. */
#ifndef LOCAL_RUNNER_HOSTS_H
#define LOCAL_RUNNER_HOSTS_H

#include "local/runner/state.h"

void hosts_take_service(struct runner *r, yyjson_doc *object, enum store_change change);
bool hosts_update(struct runner *r, struct err *e);
void hosts_free(struct runner *r);

#endif
