/* Watches, and the history that they can go back to. */
#ifndef LOCAL_STORE_WATCH_H
#define LOCAL_STORE_WATCH_H

#include "local/store/state.h"

struct history_event *history_event_new(enum store_change change, const struct stored_type *t, struct str ns,
                                        uint64_t rv, struct str text, struct str before);
/* Nobody was told of it. */
void history_event_free(struct history_event *ev);
void store_history_init(struct store_history *h, size_t cap, uint64_t since);
void store_history_release(struct store_history *h);
/* Takes the events of a call, and tells them. */
void watches_tell(struct store *s);
/* Frees those that were ended while something was told. */
void watches_sweep(struct store *s);

#endif
