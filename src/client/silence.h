/* Whether the API server answers. Who waits for something that only it can say is told after three seconds if it does
   not, and when it does again. */
#ifndef CLIENT_SILENCE_H
#define CLIENT_SILENCE_H

#include "base/clock.h"

struct remote;
struct loop_timer;

struct silence {
	msec since; /* when somebody began to doubt; NEVER: nobody does */
	msec heard; /* when it was heard of last */
	bool said, asked;
	unsigned listeners; /* they wait for news that may not come for long: an old silence is asked about */
	struct loop_timer *timer;
};

void silence_begin(struct remote *r);
void silence_end(struct remote *r);
/* Something was asked and is not answered yet, or could not be. */
void remote_doubt(struct remote *r);
/* It has answered, whatever it said. */
void remote_heard(struct remote *r);
/* Nobody waits for it any more; nothing is said. */
void silence_forget(struct remote *r);
/* Somebody begins, or ends, to wait for news. */
void remote_listen(struct remote *r);
void remote_listen_end(struct remote *r);

#endif
