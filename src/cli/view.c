#include "cli/view.h"

struct job_view job_view(yyjson_val *root)
{
	yyjson_val *meta = json_get(root, "metadata"), *record = json_at(root, "status", "dlOperator", NULL);
	struct job_view v = { .ns = json_str(json_get(meta, "namespace")),
		              .name = json_str(json_get(meta, "name")),
		              .uid = json_str(json_get(meta, "uid")),
		              .state = json_str(json_get(record, "phase")),
		              .reason = json_str(json_get(record, "reason")),
		              .pods = json_str(json_get(record, "pods")) };

	v.phase = phase_parse(v.state);
	json_int(json_get(record, "restarts"), &v.restarts);
	time_parse(json_str(json_get(meta, "creationTimestamp")), &v.created);
	time_parse(json_str(json_get(meta, "deletionTimestamp")), &v.deleted);
	if (v.deleted) {
		v.state = STR("Deleting");
	} else if (str_empty(v.state)) {
		v.state = STR("Waiting");
		v.reason = STR("no operator has looked at it yet");
	}
	return v;
}

struct str age_text(struct arena *a, msec since, msec now)
{
	static const struct {
		msec unit, next; /* from one unit on, up to NEXT the smaller one is shown too */
		char name, smaller_name;
		msec smaller;
	} units[] = {
		{ MINUTES(60 * 24), MINUTES(60 * 24 * 8), 'd', 'h', MINUTES(60) },
		{ MINUTES(60), MINUTES(60 * 8), 'h', 'm', MINUTES(1) },
		{ MINUTES(1), MINUTES(10), 'm', 's', SECONDS(1) },
	};
	msec age = MAX(now - since, (msec)0);

	if (!since)
		return STR_NONE;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		msec rest = age % units[i].unit / units[i].smaller;

		if (age < units[i].unit)
			continue;
		if (age >= units[i].next || !rest)
			return arena_printf(a, "%lld%c", (long long)(age / units[i].unit), units[i].name);
		return arena_printf(a, "%lld%c%lld%c", (long long)(age / units[i].unit), units[i].name, (long long)rest,
		                    units[i].smaller_name);
	}
	return arena_printf(a, "%llds", (long long)(age / 1000));
}
