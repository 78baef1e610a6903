/* Annotations that end a job: those that all kinds share, and words that some kinds' users know. */
#include "job/read.h"

#include "base/json.h"

/* In the order of precedence. */
static const struct end_word common[] = {
	{ STR_INIT("Preempted"), EXTERNAL_PREEMPTED },  { STR_INIT("Failed"), EXTERNAL_FAILED },
	{ STR_INIT("NodeFail"), EXTERNAL_NODE_FAILED }, { STR_INIT("Succeed"), EXTERNAL_SUCCEEDED },
	{ STR_INIT("Timeout"), EXTERNAL_TIMED_OUT },
};

size_t external_common(const struct end_word **ret)
{
	*ret = common;
	return ARRAY_LEN(common);
}

enum external_end external_parse(struct str phase)
{
	static const char *const names[] = { [EXTERNAL_PREEMPTED] = "Preempted",
		                             [EXTERNAL_FAILED] = "Failed",
		                             [EXTERNAL_NODE_FAILED] = "NodeFailed",
		                             [EXTERNAL_SUCCEEDED] = "Succeeded",
		                             [EXTERNAL_TIMED_OUT] = "TimedOut" };

	for (size_t i = EXTERNAL_PREEMPTED; i < ARRAY_LEN(names); i++)
		if (str_eqc(phase, names[i]))
			return (enum external_end)i;
	return EXTERNAL_NONE;
}

static bool take_word(struct job *job, const struct end_word *w, yyjson_val *annotations)
{
	yyjson_val *val = json_get_str(annotations, w->annotation);

	if (!val || yyjson_is_null(val))
		return false;
	job->external = w->end;
	job->external_message = json_str(val);
	return true;
}

void external_read(struct job *job, const struct job_identity *id, yyjson_val *annotations)
{
	for (size_t i = 0; i < ARRAY_LEN(common); i++) {
		if (take_word(job, &common[i], annotations))
			return;
		for (size_t k = 0; k < id->n_end_words; k++)
			if (id->end_words[k].end == common[i].end && take_word(job, &id->end_words[k], annotations))
				return;
	}
}
