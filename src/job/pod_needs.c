#include "job/pod_needs.h"

#include "base/json.h"

struct needs needs_of_container(yyjson_val *container, struct arena *a)
{
	yyjson_val *resources = json_get(container, "resources");
	struct needs asked = needs_of_list(json_get(resources, "requests"), a),
		     most = needs_of_list(json_get(resources, "limits"), a);

	for (size_t i = 0; i < most.n; i++)
		if (!needs_has(&asked, most.v[i].name))
			*needs_put(&asked, most.v[i].name, a) = most.v[i].amount;
	return asked;
}

struct needs needs_of_pod(yyjson_val *spec, struct arena *a)
{
	struct needs total = { 0 }, sidecars = { 0 }, first = { 0 }, whole, more;
	yyjson_val *c;
	size_t i, max;

	yyjson_arr_foreach(json_get(spec, "initContainers"), i, max, c)
	{
		struct needs now = needs_of_container(c, a);

		if (str_eqc(json_str(json_get(c, "restartPolicy")), "Always")) {
			needs_add(&sidecars, &now, 1, a);
			needs_raise(&first, &sidecars, a);
		} else {
			needs_add(&now, &sidecars, 1, a);
			needs_raise(&first, &now, a);
		}
	}
	needs_add(&total, &sidecars, 1, a);
	yyjson_arr_foreach(json_get(spec, "containers"), i, max, c)
	{
		struct needs one = needs_of_container(c, a);

		needs_add(&total, &one, 1, a);
	}
	needs_raise(&total, &first, a);
	whole = needs_of_container(spec, a);
	for (i = 0; i < whole.n; i++)
		*needs_put(&total, whole.v[i].name, a) = whole.v[i].amount;
	more = needs_of_list(json_get(spec, "overhead"), a);
	needs_add(&total, &more, 1, a);
	return total;
}
