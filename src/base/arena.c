#include "base/arena.h"

#include <stdarg.h>

/* There is one for each job: a small one leaves at most a third of its memory unused. A large one is rather kept whole
   for the next piece of work. */
enum { ALIGN = 16, LEAST_STEP = 1024, SMALL = 8192, LARGEST_STEP = 1 << 20 };

struct arena_chunk {
	struct arena_chunk *older;
	size_t size;
	_Alignas(ALIGN) char data[];
};

static void grow(struct arena *a, size_t n)
{
	size_t step = a->used < SMALL ? a->used / 2 : a->used;
	size_t size = MIN(MAX(step, (size_t)LEAST_STEP), (size_t)LARGEST_STEP);
	struct arena_chunk *c;

	size = MAX(size, n);
	c = xmalloc(sizeof(*c) + size);
	c->older = a->head;
	c->size = size;
	a->head = c;
	a->next = c->data;
	a->end = c->data + size;
}

void *arena_raw(struct arena *a, size_t n)
{
	void *p;

	ASSERT(n <= SIZE_MAX / 2);
	n = (MAX(n, (size_t)1) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if ((size_t)(a->end - a->next) < n)
		grow(a, n);
	p = a->next;
	a->next += n;
	a->used += n;
	return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
	void *p = arena_raw(a, n);

	memset(p, 0, n);
	return p;
}

void *arena_many(struct arena *a, size_t n, size_t size)
{
	ASSERT(size == 0 || n <= SIZE_MAX / 2 / size);
	return arena_alloc(a, n * size);
}

struct str arena_str(struct arena *a, struct str s)
{
	char *p = arena_raw(a, s.n + 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = 0;
	return (struct str){ p, s.n };
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
	char small[256];
	va_list ap;
	int n;
	char *p;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	ASSERT(n >= 0);
	if ((size_t)n < sizeof(small))
		return arena_str(a, (struct str){ small, (size_t)n });
	p = arena_raw(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return (struct str){ p, (size_t)n };
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *keep = NULL;

	for (struct arena_chunk *c = a->head, *older; c; c = older) {
		older = c->older;
		if (!keep || c->size > keep->size) {
			free(keep);
			keep = c;
		} else {
			free(c);
		}
	}
	*a = (struct arena)ARENA_INIT;
	if (keep) {
		keep->older = NULL;
		a->head = keep;
		a->next = keep->data;
		a->end = keep->data + keep->size;
	}
}

void arena_release(struct arena *a)
{
	for (struct arena_chunk *c = a->head, *older; c; c = older) {
		older = c->older;
		free(c);
	}
	*a = (struct arena)ARENA_INIT;
}

void vec_room(struct arena *a, void **v, size_t *cap, size_t n, size_t size)
{
	size_t bigger;
	void *p;

	if (n < *cap)
		return;
	bigger = *cap ? *cap * 2 : 8;
	p = arena_many(a, bigger, size);
	if (n)
		memcpy(p, *v, n * size);
	*v = p;
	*cap = bigger;
}
