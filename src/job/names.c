/* The names of enum values, as users write them. */
#include "job/decode.h"

static const char *const restart_policies[] = {
	[RESTART_NEVER] = "Never",          [RESTART_ALWAYS] = "Always",
	[RESTART_ON_FAILURE] = "OnFailure", [RESTART_ON_NODE_FAIL] = "OnNodeFail",
	[RESTART_EXIT_CODE] = "ExitCode",   [RESTART_ON_NODE_FAIL_WITH_EXIT_CODE] = "OnNodeFailWithExitCode",
};
static const char *const scopes[] = { [SCOPE_POD] = "Pod", [SCOPE_ROLE] = "Role", [SCOPE_JOB] = "Job" };
static const char *const role_ends[] = {
	[END_ANY] = "Any",
	[END_RANK0] = "Rank0",
	[END_ALL] = "All",
	[END_NONE] = "None",
};
/* A chief is an object, not a word. */
static const char *const job_ends[] = { [JOB_END_ANY] = "Any", [JOB_END_ALL] = "All" };
static const char *const cleans[] = { [CLEAN_ALL] = "All", [CLEAN_RUNNING] = "Running", [CLEAN_NONE] = "None" };

static const char *const service_types[] = {
	[SERVICE_CLUSTER_IP] = "ClusterIP",
	[SERVICE_NODE_PORT] = "NodePort",
	[SERVICE_LOAD_BALANCER] = "LoadBalancer",
};

const struct decode_names restart_policy_names = { restart_policies, ARRAY_LEN(restart_policies) };
const struct decode_names scope_names = { scopes, ARRAY_LEN(scopes) };
const struct decode_names role_end_names = { role_ends, ARRAY_LEN(role_ends) };
const struct decode_names job_end_names = { job_ends, ARRAY_LEN(job_ends) };
const struct decode_names clean_names = { cleans, ARRAY_LEN(cleans) };
const struct decode_names service_type_names = { service_types, ARRAY_LEN(service_types) };

static const char *name_at(const struct decode_names *names, unsigned i)
{
	ASSERT(i < names->n);
	return names->v[i];
}

const char *restart_policy_name(enum restart_policy p)
{
	return name_at(&restart_policy_names, p);
}

const char *scope_name(enum scope s)
{
	return name_at(&scope_names, s);
}

const char *role_end_name(enum role_end e)
{
	return name_at(&role_end_names, e);
}

const char *job_end_name(enum job_end e)
{
	return name_at(&job_end_names, e);
}

const char *clean_name(enum clean c)
{
	return name_at(&clean_names, c);
}

const char *service_type_name(enum service_type t)
{
	return name_at(&service_type_names, t);
}
