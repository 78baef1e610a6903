#include "job/problems.h"

#include <stdarg.h>

static struct str PRINTF_LIKE(2, 0) format(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	ASSERT(n >= 0);
	text = arena_raw(a, (size_t)n + 1);
	vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	return (struct str){ text, (size_t)n };
}

void problems_add(struct problems *p, enum severity severity, struct str path, const char *fmt, ...)
{
	/* Warnings leave room for errors: a job that is refused must say why. */
	size_t room = severity == PROBLEM_ERROR ? PROBLEMS_MAX : PROBLEMS_MAX / 2;
	struct problem *one;
	va_list ap;

	p->errors += severity == PROBLEM_ERROR;
	if (p->list.n >= room) {
		p->dropped++;
		return;
	}
	one = vec_push(p->arena, &p->list);
	one->severity = severity;
	one->path = arena_str(p->arena, path);
	va_start(ap, fmt);
	one->message = format(p->arena, fmt, ap);
	va_end(ap);
}

struct str problems_line(const struct problems *p, struct arena *a)
{
	const struct problem *first = p->list.v;
	struct str more = STR_NONE;

	if (!p->errors)
		return STR_NONE;
	while (first->severity != PROBLEM_ERROR)
		first++;
	if (p->errors > 1)
		more = arena_printf(a, " (and %zu more %s)", p->errors - 1, p->errors == 2 ? "problem" : "problems");
	return arena_printf(a, "%.*s%s%.*s%.*s", STR_F(first->path), first->path.n ? ": " : "", STR_F(first->message),
	                    STR_F(more));
}
