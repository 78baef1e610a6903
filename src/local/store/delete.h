/* DELETE: at once, after the grace of a pod that runs, or when the last finalizer has gone. */
#ifndef LOCAL_STORE_DELETE_H
#define LOCAL_STORE_DELETE_H

#include "local/store/state.h"

/* False: refused, the answer says why. */
bool store_verb_delete(struct store_call *c);

struct delete_wish {
	int64_t grace; /* -1: the object's own */
	bool orphan;
};
struct delete_done {
	struct str text;
	uint64_t rv;
	bool removed; /* else it is there still, being deleted */
};
/* From the body. ROW: the object that its preconditions are about; NULL: they do not count. */
bool delete_read_options(struct store_call *c, struct delete_wish *ret, const struct db_row *row);
/* False: it may not go at all. */
bool delete_allowed(struct store_call *c, const struct db_row *row);
/* Deletes, or marks it as being deleted. False: it could not be stored. */
bool store_delete_object(struct store_call *c, const struct db_row *row, const struct delete_wish *o,
                         struct delete_done *ret);

#endif
