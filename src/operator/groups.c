/* PodGroups: the one that a job with a gang has. */
#include "operator/sole.h"

static bool groups_used(const struct plan_config *config)
{
	return config->gang != GANG_NONE;
}

static bool put_group(struct kind_job *kj, const struct child *have, const void *want, struct buf *out, struct err *e)
{
	return have ? kind_group_patch(kj, (const struct group *)have, want, out, e) : kind_group(kj, want, out, e);
}

static uint64_t group_kept(uint64_t wish, const struct child *have)
{
	return plan_group_kept(wish, (const struct group *)have);
}

static struct str group_refused(const struct plan_config *config, int code, struct str message, struct arena *a)
{
	return plan_group_refused(config->gang, code, message, a);
}

static struct str groups_trouble(const struct plan_config *config, int code, struct str message, struct arena *a)
{
	return plan_groups_trouble(config->gang, code, message, a);
}

const struct sole_writer group_writer = {
	.used = groups_used,
	.name = kind_group_name,
	.put = put_group,
	.kept = group_kept,
	.refusal = plan_group_refusal,
	.refused = group_refused,
	.trouble = groups_trouble,
};
