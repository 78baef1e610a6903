/* Small things that every file may need. */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include "base/banned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* Each side is worked out once. The names differ for each use, so that one may stand inside another. */
#define MIN(a, b) PICK(a, <, b, __COUNTER__)
#define MAX(a, b) PICK(a, >, b, __COUNTER__)
#define PICK(a, op, b, n) PICK_NAMED(a, op, b, n)
#define PICK_NAMED(a, op, b, n)                                                                                        \
	__extension__({                                                                                                \
		__auto_type pick_a_##n = (a);                                                                          \
		__auto_type pick_b_##n = (b);                                                                          \
		pick_a_##n op pick_b_##n ? pick_a_##n : pick_b_##n;                                                    \
	})

/* Runs FN(&variable) when the variable goes out of scope. */
#define CLEANUP(fn) __attribute__((cleanup(fn), unused))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* A defect of ours: prints where, and aborts. The world's errors go through struct err. */
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
/* Stays on in every build. */
#define ASSERT(cond) ((cond) ? (void)0 : bug_at(__FILE__, __LINE__, "assertion failed: %s", #cond))

_Noreturn void bug_at(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Allocation that cannot fail: out of memory ends the process with one line, since every size that
   the outside world can choose is bounded before it is allocated. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrndup(const char *p, size_t n);

/* For CLEANUP: frees *(void **)p. */
void freep(void *p);

#endif
