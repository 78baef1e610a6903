/* Who is connected to a service: those who have not been admitted yet in the order in which they came. */
#ifndef HTTP_SERVICE_PEERS_H
#define HTTP_SERVICE_PEERS_H

#include "http/pump.h"

struct peer;
struct peers {
	struct loop *loop;
	size_t n, max;
	struct peer *first, *last; /* not admitted */
	struct loop_timer *timer;
};

void peers_init(struct peers *p, struct loop *l, size_t max);
/* All must have been removed. */
void peers_release(struct peers *p);
/* Somebody came. Where there is hardly room for another one, the oldest that was not admitted goes. */
struct peer *peers_add(struct peers *p, struct MHD_Connection *c);
void peers_remove(struct peers *p, struct peer *peer);
void peers_admitted(struct peers *p, struct MHD_Connection *c);
/* Has somebody been there for a while without being admitted? */
bool peers_wait(const struct peers *p);

#endif
