/* Doubly linked lists through the members `prev` and `next` of what is in them; FIRST points at the pointer to the
   first one. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include "base/util.h"

/* E becomes the first one. */
#define list_push(first, e)                                                                                            \
	do {                                                                                                           \
		(e)->prev = NULL;                                                                                      \
		(e)->next = *(first);                                                                                  \
		if ((e)->next)                                                                                         \
			(e)->next->prev = (e);                                                                         \
		*(first) = (e);                                                                                        \
	} while (0)

/* E, which is in it, is taken out. Its own pointers stay: whoever goes through the list goes on from it. */
#define list_drop(first, e)                                                                                            \
	do {                                                                                                           \
		if ((e)->prev)                                                                                         \
			(e)->prev->next = (e)->next;                                                                   \
		else                                                                                                   \
			*(first) = (e)->next;                                                                          \
		if ((e)->next)                                                                                         \
			(e)->next->prev = (e)->prev;                                                                   \
	} while (0)

#endif
