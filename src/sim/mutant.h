/* Defects that are planted on purpose, to see that the checkers find them. */
#ifndef SIM_MUTANT_H
#define SIM_MUTANT_H

#include "sim/sim.h"

enum sim_mutant {
	MUTANT_NONE,
	MUTANT_TWIN,
	MUTANT_LIMITLESS,
	MUTANT_FORGETFUL,
	MUTANT_LAZARUS,
	MUTANT_REWIND,
	MUTANT_UNCOUNTED,
	MUTANT_DOUBLE,
	MUTANT_LOWERED,
	MUTANT_LENIENT,
	MUTANT_MERCIFUL,
	MUTANT_KEEPER,
	MUTANT_GREEDY,
	MUTANT_CARELESS,
	MUTANT_BLIND,
	MUTANT_UNDEAD,
	MUTANT_ORPHANER,
	MUTANT_HOARDER,
	MUTANT_HASTY,
	MUTANT_SIBLING,
	MUTANT_DEAF,
	MUTANT_RESTLESS,
	MUTANT_LIAR,
	MUTANT_EAGER,
	MUTANT_FUSSY,
	MUTANT_HOPELESS,
	MUTANT_AMNESIC,
	MUTANT_JEALOUS,
	MUTANT_CURT,
	MUTANT_IMPATIENT,
	MUTANT_STICKY,
	MUTANT_STUTTER,
	MUTANT_INSISTENT,
	MUTANT_TARDY,
	MUTANT_FLOOD,
	MUTANT_ERASER,
	MUTANT_GENEROUS,
	MUTANT_GRUDGER,
	MUTANT_HEIR,
	MUTANT_GULLIBLE,
	MUTANT_JUMPY,
	MUTANT_COUNT
};
const char *mutant_name(enum sim_mutant m);
enum invariant mutant_breaks(enum sim_mutant m);
/* Spoils a request on its way to the server; false: it is swallowed, and answered as done. */
bool mutant_request(struct sim *s, struct sim_request *r);
/* … that writes a status. */
void mutant_status(struct sim *s, struct sim_request *r);
/* Spoils what the operator is shown. */
struct object mutant_object(struct sim *s, const struct sim_version *v);
/* The operator was shown a state of a job: now is the time. */
void mutant_shown(struct sim *s, struct sim_job *job);
bool mutant_drops(struct sim *s, const struct stream_item *it);
/* Spoils the news of an object that is too large. */
void mutant_skipped(struct sim *s, const struct sim_version *v, struct cluster_event *ev);

#endif
