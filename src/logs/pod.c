#include "logs/pod.h"

#include "object/labels.h"

static struct str label(yyjson_val *pod, const char *name)
{
	return json_str(json_at(pod, "metadata", "labels", name, NULL));
}

static struct str log_lost(yyjson_val *pod)
{
	yyjson_val *condition;
	size_t i, n;

	yyjson_arr_foreach(json_at(pod, "status", "conditions", NULL), i, n,
	                   condition) if (str_eqc(json_str(json_get(condition, "type")),
	                                          CONDITION_LOG_LOST)) return json_str(json_get(condition, "message"));
	return STR_NONE;
}

struct log_pod log_pod_read(yyjson_val *pod)
{
	struct log_pod p = { .ns = json_str(json_at(pod, "metadata", "namespace", NULL)),
		             .name = json_str(json_at(pod, "metadata", "name", NULL)),
		             .uid = json_str(json_at(pod, "metadata", "uid", NULL)),
		             .kind = label(pod, LABEL_KIND),
		             .job = label(pod, LABEL_JOB),
		             .job_uid = label(pod, LABEL_UID),
		             .role = label(pod, LABEL_ROLE),
		             .index = -1,
		             .log_lost = log_lost(pod) };
	int64_t index = -1;

	str_int(label(pod, LABEL_INDEX), &index);
	if (index >= 0 && index <= INT32_MAX)
		p.index = (int32_t)index;
	str_int(label(pod, LABEL_GENERATION), &p.generation);
	return p;
}

struct str log_pod_title(const struct log_pod *p, struct str container, struct arena *a)
{
	struct str who =
		str_empty(p->role) ? arena_str(a, p->name) : arena_printf(a, "%.*s-%d", STR_F(p->role), p->index);

	return container.n ? arena_printf(a, "%.*s/%.*s", STR_F(who), STR_F(container)) : who;
}
