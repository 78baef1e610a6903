/* Children that we cannot build ourselves, since the kind's code fails or they are too large: they are waited for, and
   nothing else of the job is held up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/testing.h"

/* TfJobs as script.h writes them; POD and SERVICE are the kind's functions of these names. */
#define KIND(pod, service)                                                                                             \
	"local function read(spec)\n"                                                                                  \
	"  local roles = {}\n"                                                                                         \
	"  for i, r in ipairs(spec.replicaSpecs) do\n"                                                                 \
	"    roles[#roles + 1] = { name = lower(r.tfReplicaType), path = at(r), count = r.replicas, service = true,\n" \
	"      template = r.template }\n"                                                                              \
	"  end\n"                                                                                                      \
	"  return { roles = roles, default = { restart = { scope = \"Pod\" } } }\n"                                    \
	"end\n"                                                                                                        \
	"local function names(job, role, index)\n"                                                                     \
	"  local name = job.name .. \"-\" .. role.name .. \"-\" .. index\n"                                            \
	"  return name, name\n"                                                                                        \
	"end\n"                                                                                                        \
	"return {\n"                                                                                                   \
	"  group = \"mlkube.io\", version = \"v1beta1\", kind = \"TfJob\", plural = \"tfjobs\",\n"                     \
	"  spec = { \"object\", fields = { replicaSpecs = { \"array\", items = { \"object\", fields = {\n"             \
	"    tfReplicaType = { \"string\" }, replicas = { \"int\" }, template = { \"template\" },\n"                   \
	"  } } } } },\n"                                                                                               \
	"  read = read, names = names, status = function() return {} end,\n"                                           \
	"  pod = function(job, role, index) " pod " end,\n"                                                            \
	"  service = function(job, role, index) " service " end,\n"                                                    \
	"}\n"

/* Of eight workers one has none. */
#define FAILS_FOR_WORKER_1 "if role.name == \"worker\" and index == 1 then return { env = nil + 1 } end"

static struct operator_script *begin(void **state, const char *lua)
{
	struct operator_script *s = *state;

	script_kind(s, lua);
	listed(s);
	return s;
}

/* A status write of this job that is waiting, or was answered last, has this text. */
static void says(struct operator_script *s, const char *text)
{
	if (!strstr(s->status.p, text))
		fail_msg("\"%s\" is not in %s", text, s->status.p);
}

/* The replicas' children that were made, of one sort and with this in their names. */
static size_t made(const struct operator_script *s, enum resource r, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_sent; i++)
		n += s->sent[i].r.verb == VERB_CREATE && s->sent[i].r.resource == r &&
		     strstr(s->sent[i].r.name.p, name);
	return n;
}

/* Time passes until the operator wants to look again. How long that was. */
static msec wait_once(struct operator_script *s)
{
	msec before = s->now;

	assert_true(s->wake > s->now && s->wake < NEVER);
	s->now = s->wake;
	run_step(s);
	settle_all(s);
	return s->now - before;
}

/* Many times longer than a refusal of the server may last. */
static void wait_long(struct operator_script *s)
{
	msec begun = s->now, longest = 0;
	size_t times = 0;

	for (; s->now - begun < MINUTES(30); times++)
		longest = MAX(longest, wait_once(s));
	/* The waits grow, and they are not for ever. */
	assert_in_range(longest, SECONDS(30), MINUTES(2));
	assert_in_range(times, 10, 200);
}

static void test_kind_fails_for_one_pod(void **state)
{
	struct operator_script *s = begin(state, KIND(FAILS_FOR_WORKER_1, ""));

	put_job(s, "1", "", 3);
	settle_all(s);
	s->now += 1000;
	run_step(s);
	settle_all(s);
	says(s, "cannot be built, retrying: test.lua:");
	/* Everything else has been made, but for the role's workers behind it, whose turn has not come. */
	assert_int_equal(made(s, RES_SERVICE, ""), 4);
	assert_int_equal(made(s, RES_POD, "master"), 1);
	assert_int_equal(made(s, RES_POD, "worker-0"), 1);
	wait_long(s);
	says(s, "cannot be built, retrying: test.lua:");
	assert_null(strstr(s->status.p, "Failed"));
	assert_int_equal(made(s, RES_POD, "worker-1"), 0);
	/* An edit ends the wait: there is no such worker any more. */
	put_job(s, "edited", s->status.p, 1);
	status_written(s);
	assert_null(strstr(s->status.p, "cannot be built"));
}

/* A new job of this size would be invalid; this one has started before there was a limit. */
static void test_pod_too_large(void **state)
{
	static char fields[(4 << 20) + 64];
	struct operator_script *s = begin(state, KIND("", ""));
	size_t n = (size_t)snprintf(fields, sizeof(fields), ",\"args\":[\"");

	put_job(s, "1", "", 0);
	settle_all(s);
	assert_int_equal(made(s, RES_POD, "master"), 1);
	memset(fields + n, 'x', 4 << 20);
	memcpy(fields + n + (4 << 20), "\"]", 3);
	s->fields = fields;
	/* Another operator finds the job without its children. */
	script_limit(s, operator_config_default.requests_max);
	listed(s);
	put_job(s, "2", s->status.p, 0);
	settle_all(s);
	s->now += 1000;
	run_step(s);
	settle_all(s);
	says(s, "cannot be built, retrying: the pod j-master-0 is larger than 3 MiB");
	wait_long(s);
	assert_null(strstr(s->status.p, "Failed"));
	assert_int_equal(made(s, RES_POD, "master"), 1);
}

static void test_kind_fails_for_one_service(void **state)
{
	struct operator_script *s = begin(state, KIND("", FAILS_FOR_WORKER_1));

	put_job(s, "1", "", 3);
	settle_all(s);
	s->now += 1000;
	run_step(s);
	settle_all(s);
	says(s, "cannot be built, retrying: test.lua:");
	assert_int_equal(made(s, RES_SERVICE, "master"), 1);
	assert_int_equal(made(s, RES_SERVICE, "worker-0"), 1);
	/* Who starts for the first time needs the names of all. */
	assert_int_equal(made(s, RES_POD, ""), 0);
	wait_long(s);
	assert_null(strstr(s->status.p, "Failed"));
	assert_int_equal(made(s, RES_SERVICE, "worker-1"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPT_TEST(test_kind_fails_for_one_pod),
		SCRIPT_TEST(test_pod_too_large),
		SCRIPT_TEST(test_kind_fails_for_one_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
