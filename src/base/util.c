#include "base/util.h"

#include <stdarg.h>

void bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "BUG at %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

static _Noreturn void out_of_memory(size_t n)
{
	fprintf(stderr, "out of memory: %zu bytes requested\n", n);
	exit(70);
}

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		out_of_memory(n);
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory(n * size);
	return p;
}

void *xrealloc(void *p, size_t n)
{
	void *q = realloc(p, n ? n : 1);

	if (!q)
		out_of_memory(n);
	return q;
}

char *xstrndup(const char *p, size_t n)
{
	char *s = xmalloc(n + 1);

	if (n)
		memcpy(s, p, n);
	s[n] = 0;
	return s;
}

void freep(void *p)
{
	void **pp = p;

	free(*pp);
	*pp = NULL;
}
