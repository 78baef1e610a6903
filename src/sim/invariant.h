/* What a run checks. The names are what --mutant's test expects to read. */
#ifndef SIM_INVARIANT_H
#define SIM_INVARIANT_H

#include "base/util.h"

enum invariant {
	INV_NONE,
	INV_TWO_PODS,
	INV_LIMIT,
	INV_COMPLETED,
	INV_FINAL,
	INV_GENERATION,
	INV_COUNT,
	INV_FOREIGN,
	INV_UID,
	INV_INVALID,
	INV_CLEANED,
	INV_BODY,
	INV_RECORD_FIRST,
	INV_SIBLING,
	INV_GANG,
	INV_REFUSED,
	INV_UNCREATED,
	INV_HASTENED,
	INV_EARLY,
	INV_LEFT,
	INV_DEADLINE,
	INV_FLIGHT,
	INV_UNKNOWN,
	INV_STARVED,
	INV_STUCK,
	INV_QUIET,
	INV_ORPHAN,
	INV_ORACLE,
	INV_WORK,
	INV_TRUTH,
	INV_DELETING,
	INV_COUNT_
};

const char *invariant_name(enum invariant i);

#endif
