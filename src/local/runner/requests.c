#include "local/runner/requests.h"

#include "base/json.h"
#include "local/pod/pod.h"

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

/* In thousandths. */
static int64_t asked(yyjson_val *resources, const char *name)
{
	static const char *const fields[] = { "requests", "limits" };
	int64_t milli;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		yyjson_val *v = json_at(resources, fields[i], name, NULL);

		if (v && pod_quantity(v, &milli))
			return MAX(milli, (int64_t)0);
	}
	return 0;
}

static int64_t whole(int64_t milli)
{
	return milli / 1000 + (milli % 1000 != 0);
}

struct amount requests_of_container(yyjson_val *container)
{
	static const char *const gpus[] = { "nvidia.com/gpu", "alpha.kubernetes.io/nvidia-gpu" };
	yyjson_val *resources = json_get(container, "resources");
	struct amount a = { .cpu = asked(resources, "cpu"), .memory = whole(asked(resources, "memory")) };

	for (size_t i = 0; i < ARRAY_LEN(gpus); i++)
		a.gpus = sum(a.gpus, whole(asked(resources, gpus[i])));
	return a;
}

struct amount requests_of_pod(yyjson_val *spec)
{
	struct amount total = { 0 }, sidecars = { 0 }, first = { 0 };
	yyjson_val *c;
	size_t i, max;

	yyjson_arr_foreach(json_get(spec, "initContainers"), i, max, c)
	{
		struct amount now = requests_of_container(c);

		if (str_eqc(json_str(json_get(c, "restartPolicy")), "Always")) {
			amount_add(&sidecars, now);
			first = amount_max(first, sidecars);
		} else {
			amount_add(&now, sidecars);
			first = amount_max(first, now);
		}
	}
	total = sidecars;
	yyjson_arr_foreach(json_get(spec, "containers"), i, max, c)
	{
		amount_add(&total, requests_of_container(c));
	}
	return amount_max(total, first);
}
