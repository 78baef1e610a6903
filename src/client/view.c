#include "client/view.h"

/* As the record is read: an end that only a later version knows is an end. */
static enum phase phase_of(yyjson_val *record, struct str state)
{
	enum phase p = phase_parse(state);

	if (p != PHASE_NONE && p != PHASE_OTHER)
		return p;
	return state.n && str_eq(state, json_str(json_get(record, "outcome"))) ? PHASE_OTHER : PHASE_NONE;
}

struct job_view job_view(yyjson_val *root)
{
	yyjson_val *meta = json_get(root, "metadata"), *record = json_at(root, "status", "dlOperator", NULL);
	struct job_view v = { .ns = json_str(json_get(meta, "namespace")),
		              .name = json_str(json_get(meta, "name")),
		              .uid = json_str(json_get(meta, "uid")),
		              .state = json_str(json_get(record, "phase")),
		              .reason = json_str(json_get(record, "reason")),
		              .pods = json_str(json_get(record, "pods")) };

	v.phase = phase_of(record, v.state);
	json_int(json_get(record, "restarts"), &v.restarts);
	time_parse(json_str(json_get(meta, "creationTimestamp")), &v.created);
	time_parse(json_str(json_get(meta, "deletionTimestamp")), &v.deleted);
	if (v.deleted) {
		v.state = STR("Deleting");
	} else if (str_empty(v.state)) {
		v.state = STR("Waiting");
		v.reason = STR("no operator has processed it yet");
	}
	return v;
}

struct str age_text(struct arena *a, msec since, msec now)
{
	char text[AGE_TEXT];

	return since ? arena_str(a, str_c(age_format(MAX(now - since, (msec)0), text))) : STR_NONE;
}
