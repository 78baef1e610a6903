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

/* The same where LAST points at the pointer to the last one, too: E becomes the first one, the last one, or is taken
   out. */
#define deque_push(first, last, e)                                                                                     \
	do {                                                                                                           \
		(e)->prev = NULL;                                                                                      \
		(e)->next = *(first);                                                                                  \
		*((e)->next ? &(e)->next->prev : (last)) = (e);                                                        \
		*(first) = (e);                                                                                        \
	} while (0)

#define deque_append(first, last, e)                                                                                   \
	do {                                                                                                           \
		(e)->next = NULL;                                                                                      \
		(e)->prev = *(last);                                                                                   \
		*((e)->prev ? &(e)->prev->next : (first)) = (e);                                                       \
		*(last) = (e);                                                                                         \
	} while (0)

#define deque_drop(first, last, e)                                                                                     \
	do {                                                                                                           \
		*((e)->prev ? &(e)->prev->next : (first)) = (e)->next;                                                 \
		*((e)->next ? &(e)->next->prev : (last)) = (e)->prev;                                                  \
	} while (0)

#endif
