#include "cluster/container_restarts.h"

enum restart_what { RESTART_WHAT_NOTHING, RESTART_WHAT_ITSELF, RESTART_WHAT_ALL };

static bool has_code(yyjson_val *values, int32_t code)
{
	yyjson_val *one;
	size_t i, max;
	int64_t n;

	yyjson_arr_foreach(values, i, max, one)
	{
		if (json_int(one, &n) && n == code)
			return true;
	}
	return false;
}

static bool rule_matches(yyjson_val *rule, int32_t code)
{
	yyjson_val *codes = json_get(rule, "exitCodes");
	struct str op = json_str(json_get(codes, "operator"));

	if (str_eqc(op, "In"))
		return has_code(json_get(codes, "values"), code);
	return str_eqc(op, "NotIn") && !has_code(json_get(codes, "values"), code);
}

/* The first rule that matches decides, then the policy. A container without a policy has the pod's: Never. */
static enum restart_what restart_of(yyjson_val *spec, int32_t code)
{
	struct str policy = json_str(json_get(spec, "restartPolicy"));
	yyjson_val *rule;
	size_t i, max;
	bool all;

	yyjson_arr_foreach(json_get(spec, "restartPolicyRules"), i, max, rule)
	{
		if (!rule_matches(rule, code))
			continue;
		all = str_eqc(json_str(json_get(rule, "action")), "RestartAllContainers");
		return all ? RESTART_WHAT_ALL : RESTART_WHAT_ITSELF;
	}
	if (str_eqc(policy, "Always") || (str_eqc(policy, "OnFailure") && code != 0))
		return RESTART_WHAT_ITSELF;
	return RESTART_WHAT_NOTHING;
}

static struct container *ended_of(struct container *c, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (!c[i].init && c[i].state == CONTAINER_TERMINATED && str_eq(c[i].name, name))
			return &c[i];
	return NULL;
}

void container_restarts_read(struct container *c, size_t n, yyjson_val *spec)
{
	yyjson_val *one;
	size_t i, max;
	bool all = false;

	yyjson_arr_foreach(spec, i, max, one)
	{
		struct container *ended = ended_of(c, n, json_str(json_get(one, "name")));
		enum restart_what what = ended ? restart_of(one, ended->exit_code) : RESTART_WHAT_NOTHING;

		if (ended)
			ended->comes_back = what != RESTART_WHAT_NOTHING;
		all |= what == RESTART_WHAT_ALL;
	}
	for (size_t k = 0; all && k < n; k++)
		c[k].comes_back = c[k].comes_back || (!c[k].init && c[k].state == CONTAINER_TERMINATED);
}
