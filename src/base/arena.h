/* Memory that belongs to one piece of work and goes at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *head;
	char *next, *end;
	size_t used; /* bytes handed out since the last reset */
};

#define ARENA_INIT                                                                                                     \
	{                                                                                                              \
		NULL, NULL, NULL, 0                                                                                    \
	}

/* Zeroed, aligned to 16 bytes. Never NULL, also for 0 bytes. */
void *arena_alloc(struct arena *a, size_t n);
/* Not zeroed: for memory that is written at once. */
void *arena_raw(struct arena *a, size_t n);
#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_many((a), (size_t)(n), sizeof(type)))
void *arena_many(struct arena *a, size_t n, size_t size);

/* Copies; the bytes are followed by a zero. */
struct str arena_str(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Forgets everything, keeps the largest chunk for the next piece of work. */
void arena_reset(struct arena *a);
/* Gives all memory back. The arena is empty and usable. */
void arena_release(struct arena *a);

/* Growing arrays in an arena:  VEC(struct role) roles = { 0 };  *vec_push(a, &roles) = r; */
#define VEC(type)                                                                                                      \
	struct {                                                                                                       \
		type *v;                                                                                               \
		size_t n, cap;                                                                                         \
	}
#define vec_push(a, vec)                                                                                               \
	(vec_room((a), (void **)&(vec)->v, &(vec)->cap, (vec)->n, sizeof(*(vec)->v)), &(vec)->v[(vec)->n++])
void vec_room(struct arena *a, void **v, size_t *cap, size_t n, size_t size);

#endif
