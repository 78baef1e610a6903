/* Probes over the network: http and tcp, without blocking. */
#ifndef LOCAL_POD_PROBE_NET_H
#define LOCAL_POD_PROBE_NET_H

#include "local/pod/probe.h"

enum probe_net { PROBE_NET_BUSY, PROBE_NET_GOOD, PROBE_NET_BAD };

/* False, with WHY, if it cannot even begin. */
bool probe_net_begin(struct probe *pr, char why[static 256]);
enum probe_net probe_net_look(struct probe *pr, char why[static 256]);
/* Closes what is open. */
void probe_net_end(struct probe *pr);
/* The request, appended to OUT. */
void probe_http_request(const struct pod_probe *p, struct str host, struct buf *out);
/* The status that a reply begins with; 0: not all of it is there yet; -1: that is no HTTP. */
int probe_http_status(struct str reply);

#endif
