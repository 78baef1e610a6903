#include "local/runner/gpus.h"

static bool has(const struct gpu_set *s, int number)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i] == number)
			return true;
	return false;
}

static void put_gpu(struct gpu_set *s, int number)
{
	if (s->n < MACHINE_GPUS_MAX && !has(s, number))
		s->v[s->n++] = number;
}

const char *gpus_write(const struct gpu_set *s, char buf[static GPUS_TEXT])
{
	size_t n = 0;

	buf[0] = 0;
	for (size_t i = 0; i < s->n; i++)
		n += (size_t)snprintf(buf + n, GPUS_TEXT - n, "%s%d", i ? "," : "", s->v[i]);
	return buf;
}

bool gpus_parse(struct gpu_set *ret, struct str text)
{
	struct str part;
	int64_t number;

	ret->n = 0;
	while (str_next(&text, ',', &part)) {
		if (!str_int(str_trim(part), &number) || number < 0 || number > 99999 || ret->n == MACHINE_GPUS_MAX ||
		    has(ret, (int)number))
			return false;
		put_gpu(ret, (int)number);
	}
	return true;
}

void gpus_add(struct gpu_set *to, const struct gpu_set *more)
{
	for (size_t i = 0; i < more->n; i++)
		put_gpu(to, more->v[i]);
}

bool gpus_pick(struct gpu_set *ret, const struct gpu_set *all, const struct gpu_set *taken, int64_t n)
{
	struct gpu_set picked = { .n = 0 };

	for (size_t i = 0; i < all->n && (int64_t)picked.n < n; i++)
		if (!has(taken, all->v[i]))
			put_gpu(&picked, all->v[i]);
	if ((int64_t)picked.n < n)
		return false;
	*ret = picked;
	return true;
}

struct gpu_set gpus_part(const struct gpu_set *pod, size_t at, int64_t n)
{
	struct gpu_set part = { .n = 0 };

	for (size_t i = at; i < pod->n && (int64_t)part.n < n; i++)
		put_gpu(&part, pod->v[i]);
	return part;
}

struct gpu_set gpus_chosen(const struct gpu_set *given, struct str own)
{
	struct gpu_set chosen = { .n = 0 };
	struct str part;
	int64_t i;

	while (str_next(&own, ',', &part)) {
		if (!str_int(str_trim(part), &i) || i < 0 || (size_t)i >= given->n)
			break;
		put_gpu(&chosen, given->v[i]);
	}
	return chosen;
}
