#include "local/runner/fit.h"

enum fit_part { CPU, MEMORY, GPUS, PARTS };

static int64_t part_of(const struct amount *a, enum fit_part p)
{
	switch (p) {
	case CPU:
		return a->cpu;
	case MEMORY:
		return a->memory;
	case GPUS:
		return a->gpus;
	case PARTS:
		break;
	}
	BUG("no part");
}

/* Sums of what users wrote: as large as can be said is large enough. */
static int64_t sum(int64_t a, int64_t b)
{
	int64_t s;

	return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

static void add(struct amount *to, const struct amount *more)
{
	to->cpu = sum(to->cpu, more->cpu);
	to->memory = sum(to->memory, more->memory);
	to->gpus = sum(to->gpus, more->gpus);
}

/* The first of which there is less than it wants; PARTS: it fits. */
static enum fit_part short_of(const struct amount *wants, const struct amount *used, const struct amount *machine)
{
	for (enum fit_part p = CPU; p < PARTS; p++) {
		int64_t want = part_of(wants, p);

		if (want > 0 && sum(want, part_of(used, p)) > part_of(machine, p))
			return p;
	}
	return PARTS;
}

static struct str in_words(enum fit_part p, int64_t n, struct arena *a)
{
	static const struct {
		const char *name;
		int64_t unit;
	} units[] = { { "GiB", (int64_t)1 << 30 }, { "MiB", 1 << 20 }, { "KiB", 1 << 10 } };

	switch (p) {
	case CPU:
		return arena_printf(a, "%g core%s", (double)n / 1000, n == 1000 ? "" : "s");
	case MEMORY:
		for (size_t i = 0; i < ARRAY_LEN(units); i++)
			if (n >= units[i].unit)
				return arena_printf(a, "%.4g %s", (double)n / (double)units[i].unit, units[i].name);
		return arena_printf(a, "%lld bytes", (long long)n);
	case GPUS:
		return arena_printf(a, "%lld GPU%s", (long long)n, n == 1 ? "" : "s");
	case PARTS:
		break;
	}
	BUG("no part");
}

static struct str never(enum fit_part p, const struct amount *wants, const struct amount *machine, struct arena *a)
{
	struct str want = in_words(p, part_of(wants, p), a);

	if (part_of(machine, p) <= 0)
		return arena_printf(a, "requests %.*s, this machine has none", STR_F(want));
	return arena_printf(a, "requests %.*s, this machine has %.*s", STR_F(want),
	                    STR_F(in_words(p, part_of(machine, p), a)));
}

static struct str waits(enum fit_part p, const struct amount *wants, const struct amount *used,
                        const struct amount *machine, struct arena *a)
{
	int64_t left = part_of(machine, p) - part_of(used, p);

	return arena_printf(a, "waiting for %.*s, %.*s free", STR_F(in_words(p, part_of(wants, p), a)),
	                    STR_F(left > 0 ? in_words(p, left, a) : STR("none")));
}

void fit_jobs(const struct amount *machine, struct fit_job *jobs, size_t n, struct arena *a)
{
	const struct fit_job *first = NULL;
	struct amount used = { 0 };

	for (size_t i = 0; i < n; i++)
		if (jobs[i].admitted)
			add(&used, &jobs[i].wants);
	for (size_t i = 0; i < n; i++) {
		struct fit_job *j = &jobs[i];
		enum fit_part lacks = short_of(&j->wants, &(struct amount){ 0 }, machine);

		j->verdict = FIT_ADMITTED;
		j->reason = STR_NONE;
		/* Who wants nothing takes nothing from those before. */
		if (j->admitted || (j->wants.cpu <= 0 && j->wants.memory <= 0 && j->wants.gpus <= 0))
			continue;
		if (lacks != PARTS) {
			j->verdict = FIT_NEVER;
			j->reason = never(lacks, &j->wants, machine, a);
		} else if (first) {
			j->verdict = FIT_WAITS;
			j->reason = arena_printf(a, "waiting behind %.*s", STR_F(first->name));
		} else if ((lacks = short_of(&j->wants, &used, machine)) != PARTS) {
			j->verdict = FIT_WAITS;
			j->reason = waits(lacks, &j->wants, &used, machine, a);
			first = j;
		} else {
			add(&used, &j->wants);
		}
	}
}
