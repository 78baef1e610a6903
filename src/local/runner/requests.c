#include "local/runner/requests.h"

#include "base/json.h"
#include "job/pod_needs.h"
#include "local/runner/runner.h"

static int64_t sum(int64_t a, int64_t b)
{
	int64_t s;

	return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

void amount_add(struct amount *to, struct amount more)
{
	to->cpu = sum(to->cpu, more.cpu);
	to->memory = sum(to->memory, more.memory);
	to->gpus = sum(to->gpus, more.gpus);
}

static int64_t product(int64_t a, int64_t b)
{
	int64_t p;

	return __builtin_mul_overflow(a, b, &p) ? INT64_MAX : p;
}

struct amount amount_times(struct amount one, int64_t n)
{
	return (struct amount){ product(one.cpu, n), product(one.memory, n), product(one.gpus, n) };
}

struct amount amount_max(struct amount a, struct amount b)
{
	a.cpu = MAX(a.cpu, b.cpu);
	a.memory = MAX(a.memory, b.memory);
	a.gpus = MAX(a.gpus, b.gpus);
	return a;
}

static int64_t whole(struct quantity q)
{
	return q.milli && q.whole < INT64_MAX ? q.whole + 1 : q.whole;
}

static struct amount amount_of(const struct needs *n)
{
	static const char *const gpus[] = { "nvidia.com/gpu", "alpha.kubernetes.io/nvidia-gpu" };
	struct quantity cpu = needs_get(n, STR("cpu"));
	struct amount a = { .cpu = sum(product(cpu.whole, 1000), cpu.milli),
		            .memory = whole(needs_get(n, STR("memory"))) };

	for (size_t i = 0; i < ARRAY_LEN(gpus); i++)
		a.gpus = sum(a.gpus, whole(needs_get(n, str_c(gpus[i]))));
	return a;
}

typedef struct needs (*needs_fn)(yyjson_val *val, struct arena *a);

static struct amount asked(needs_fn of, yyjson_val *val)
{
	struct arena a = ARENA_INIT;
	struct needs n = of(val, &a);
	struct amount ret = amount_of(&n);

	arena_release(&a);
	return ret;
}

struct amount requests_of_container(yyjson_val *container)
{
	return asked(needs_of_container, container);
}

struct amount requests_of_pod(yyjson_val *spec)
{
	return asked(needs_of_pod, spec);
}

struct amount requests_of_job(const struct job *job, bool without_gpus)
{
	struct amount all = { 0 };

	for (size_t i = 0; i < job->n_roles; i++)
		amount_add(&all, amount_times(requests_of_pod(json_get(job->roles[i].template, "spec")),
		                              job->roles[i].count));
	if (without_gpus)
		all.gpus = 0;
	return all;
}

bool runner_never_fits(const struct amount *machine, const struct job *job, bool without_gpus, struct arena *a,
                       struct str *why)
{
	struct fit_job f = { .name = STR("job"), .wants = requests_of_job(job, without_gpus) };

	fit_jobs(machine, &f, 1, a);
	*why = f.reason;
	return f.verdict == FIT_NEVER;
}

int64_t runner_gpus_of(yyjson_val *template)
{
	return requests_of_pod(json_get(template, "spec")).gpus;
}
