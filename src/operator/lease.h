/*
 * Leader election by a coordination.k8s.io/v1 Lease, as a state machine that owns no connection and no
 * clock: it says what to send next and is told what came back.
 *
 * A Lease does not fence: whoever leads stops issuing at the renew deadline, by its own clock and counted
 * from when the last good renewal was sent. The holder's clock is never compared with ours: a Lease has
 * expired when we have seen it unchanged for its duration.
 */
#ifndef OPERATOR_LEASE_H
#define OPERATOR_LEASE_H

#include "base/json.h"
#include "operator/call.h"

struct lease_config {
	struct str ns, name;
	struct str identity; /* of this process, and of no other */
	msec duration;       /* others wait this long for us */
	msec renew_deadline; /* we stop issuing when there was no renewal for so long */
	msec retry_period;   /* between renewals */
};

/* False, with one line, if the times do not fit together. */
bool lease_config_check(const struct lease_config *c, struct err *e);

struct lease;

/* Copies the strings of C, which must have passed the check. */
struct lease *lease_new(const struct lease_config *c);
void lease_free(struct lease *l);

enum lease_wish_type { LEASE_SLEEP, LEASE_SEND, LEASE_BUSY, LEASE_DONE };
struct lease_wish {
	enum lease_wish_type type; /* BUSY: the answer is awaited; DONE: released, nothing comes any more */
	struct api_call call;      /* SEND: valid until the next call of any function of this lease */
	msec at;                   /* SLEEP: ask again then */
};

/* What to do at NOW (a clock that never goes back, with the machine's sleep counted). A SEND counts as
   sent. WALL is what is written down. */
struct lease_wish lease_next(struct lease *l, msec now, msec wall);
/* What came back; CODE 0: nothing. ANSWER may be NULL. */
void lease_answer(struct lease *l, msec now, int code, yyjson_val *answer);
/* May we issue requests? */
bool lease_leads(const struct lease *l, msec now);
/* Until when, if nothing else happens; 0 if we do not lead. */
msec lease_leads_until(const struct lease *l);
/* Did the API server answer (whatever it was) to the last call? True before the first. */
bool lease_reachable(const struct lease *l);
/* Who holds it, as far as we know; empty: nobody. */
struct str lease_holder(const struct lease *l);
/* Give it away: after what is in flight was answered, holderIdentity is emptied if it was us. From now on
   we do not lead. */
void lease_release(struct lease *l);

#endif
