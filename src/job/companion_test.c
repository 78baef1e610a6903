/* companion.c, tensorboard.c: where a TensorBoard is asked for, what is wrong with it, and the pod that it becomes. */
#include "job/testing.h"

#define WORKER "{'name':'worker','path':'spec.r.worker','count':1,'template':" TEMPLATE "}"
#define DOC "{'roles':[" WORKER "]}"
#define OWN(own, more) "{'roles':[" WORKER "],'own':{'tensorboard':" own "}" more "}"

static const struct {
	const char *doc, *policy, *problems;
} cases[] = {
	{ DOC, "{'tensorboard':null}", "" },
	{ DOC, "{'tensorboard':{'logDir':'/logs'}}", "" },
	{ DOC, "{'tensorboard':{'logDir':'gs://b/x','serviceType':'NodePort','ttlSecondsAfterFinished':0}}", "" },
	{ DOC, "{'tensorboard':{}}",
	  "spec.policy.tensorboard.logDir: must not be empty: where does the training write its events?" },
	{ DOC, "{'tensorboard':{'logDir':''}}",
	  "spec.policy.tensorboard.logDir: must not be empty: where does the training write its events?" },
	{ DOC, "{'tensorboard':{'logDir':7}}",
	  "spec.policy.tensorboard.logDir: must be a string, found a number: quote it" },
	{ DOC, "{'tensorboard':{'logDir':'--bind_all'}}", "spec.policy.tensorboard.logDir: must not begin with '-'" },
	{ DOC, "{'tensorboard':'/logs'}",
	  "spec.policy.tensorboard: must be an object, found a string\n"
	  "spec.policy.tensorboard.logDir: must not be empty: where does the training write its events?" },
	{ DOC, "{'tensorboard':{'logDir':'/l','logdir':'/l'}}",
	  "spec.policy.tensorboard.logdir: unknown field; did you mean \"logDir\"?" },
	{ DOC, "{'tensorboard':{'logDir':'/l','image':' '}}", "spec.policy.tensorboard.image: must not be empty" },
	{ DOC, "{'tensorboard':{'logDir':'/l','serviceType':'Headless'}}",
	  "spec.policy.tensorboard.serviceType: must be ClusterIP, NodePort or LoadBalancer, found \"Headless\"" },
	{ DOC, "{'tensorboard':{'logDir':'/l','ttlSecondsAfterFinished':-1}}",
	  "spec.policy.tensorboard.ttlSecondsAfterFinished: must be at least 0, found -1" },
	{ DOC, "{'tensorboard':{'logDir':'/l','ttlSecondsAfterFinished':2147483648}}",
	  "spec.policy.tensorboard.ttlSecondsAfterFinished: must be at most 2147483647, found 2147483648" },

	/* Volumes. */
	{ DOC, "{'tensorboard':{'logDir':'/l','volumes':[],'volumeMounts':[]}}", "" },
	{ DOC, "{'tensorboard':{'logDir':'/l','volumes':{},'volumeMounts':7}}",
	  "spec.policy.tensorboard.volumes: must be a list, found an object\n"
	  "spec.policy.tensorboard.volumeMounts: must be a list, found a number" },
	{ DOC, "{'tensorboard':{'logDir':'/l','volumes':[{'name':'a'},'b']}}",
	  "spec.policy.tensorboard.volumes[1]: must be an object, found a string" },
	{ DOC, "{'tensorboard':{'logDir':'/l','volumes':[{'name':'A_'},{'name':'b'},{'name':'b'},{}]}}",
	  "spec.policy.tensorboard.volumes[0].name: must be a DNS label (lower case letters, digits, '-', at most 63)\n"
	  "spec.policy.tensorboard.volumes[2].name: there is another volume named \"b\"\n"
	  "spec.policy.tensorboard.volumes[3].name: must be a DNS label (lower case letters, digits, '-', at most "
	  "63)" },
	{ DOC, "{'tensorboard':{'logDir':'/l','volumes':[{'name':'tensorboard-tmp'}]}}",
	  "spec.policy.tensorboard.volumes[0].name: is the name of a volume that TensorBoard already has" },
	{ DOC, "{'tensorboard':{'logDir':'/l','volumes':[{'name':'a'}],'volumeMounts':[{'name':'b'}]}}",
	  "spec.policy.tensorboard.volumeMounts[0].name: there is no volume named \"b\" in its volumes\n"
	  "spec.policy.tensorboard.volumeMounts[0].mountPath: must not be empty" },

	/* The kind's own field, and both. */
	{ OWN("{'logDir':'/l'}", ""), NULL, "" },
	{ OWN("{}", ""), NULL,
	  "spec.tensorboard.logDir: must not be empty: where does the training write its events?" },
	{ OWN("{'logDir':'/l','volumes':{}}", ""), NULL, "" },
	{ OWN("{'logDir':'/l'}", ""), "{'tensorboard':{'logDir':'/l','ttlSecondsAfterFinished':5}}", "" },
	{ OWN("{'logDir':'/l'}", ""), "{'tensorboard':{'ttlSecondsAfterFinished':5}}", "" },
	{ OWN("{'logDir':'/l','serviceType':'NodePort','image':'a','ttlSecondsAfterFinished':5,"
	      "'volumes':[{'name':'a','emptyDir':{}}],'volumeMounts':[{'name':'a','mountPath':'/a'}]}",
	      ""),
	  "{'tensorboard':{'logDir':'/m','serviceType':'ClusterIP','image':'b','ttlSecondsAfterFinished':6,"
	  "'volumes':[{'name':'a'}],'volumeMounts':[{'name':'a','mountPath':'/b'}]}}",
	  "spec.policy.tensorboard.logDir: differs from spec.tensorboard.logDir; set only one of them\n"
	  "spec.policy.tensorboard.image: differs from spec.tensorboard.image; set only one of them\n"
	  "spec.policy.tensorboard.volumes: differs from spec.tensorboard.volumes; set only one of them\n"
	  "spec.policy.tensorboard.volumeMounts: differs from spec.tensorboard.volumeMounts; set only one of them\n"
	  "spec.policy.tensorboard.serviceType: differs from spec.tensorboard.serviceType; set only one of them\n"
	  "spec.policy.tensorboard.ttlSecondsAfterFinished: differs from "
	  "spec.tensorboard.ttlSecondsAfterFinished; set only one of them" },
	{ OWN("{'logDir':'/l'}", ",'tensorboard':{'labels':{'a':1}}"), NULL,
	  "spec: tensorboard.labels must be an object of strings" },

	/* It is a role, and takes no part. */
	{ "{'roles':[" WORKER ",{'name':'tensorboard','title':'TensorBoard','path':'spec.r.tb','count':1,"
	  "'template':" TEMPLATE "}]}",
	  "{'tensorboard':{'logDir':'/l'}}",
	  "spec.policy.tensorboard: role \"tensorboard\" already exists, as \"TensorBoard\" at spec.r.tb" },
	{ DOC, "{'tensorboard':{'logDir':'/l'},'complete':{'role':'tensorboard'}}",
	  "spec.policy.complete: role \"tensorboard\" does not take part in the job's end, so it cannot be the chief" },
	{ "{'roles':[]}", "{'tensorboard':{'logDir':'/l'}}", "spec: has no replicas; a job needs at least one" },
	{ DOC, "{'tensorboard':{'logDir':'/l'},'roles':{'tensorboard':{'restart':{'backoff':{'maxSeconds':7}}}}}", "" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench b = BENCH_INIT;
		struct job *job = read_job(&b, cases[i].doc, cases[i].policy);

		assert_string_equal(problems_text(&b, &job->problems), cases[i].problems);
		bench_release(&b);
	}
}

static const struct role *companion_role(const struct job *job)
{
	const struct role *role = job_role(job, STR("tensorboard"));

	assert_non_null(role);
	assert_ptr_equal(role, &job->roles[job->n_roles - 1]);
	return role;
}

static void check_template(const struct role *role, const char *wanted)
{
	struct buf b = BUF_INIT(1 << 20), w = BUF_INIT(1 << 20);

	json_write_val(role->template, &b);
	for (const char *c = wanted; *c; c++)
		buf_putc(&w, *c == '\'' ? '"' : *c);
	assert_string_equal(b.p, w.p);
	buf_release(&b);
	buf_release(&w);
}

#define SAFE                                                                                                           \
	"'automountServiceAccountToken':false,'securityContext':{'runAsNonRoot':true,'runAsUser':65532,"               \
	"'runAsGroup':65532,'seccompProfile':{'type':'RuntimeDefault'}}"
#define SERVES                                                                                                         \
	"'--host','0.0.0.0','--port','6006'],'ports':[{'containerPort':6006}],"                                        \
	"'env':[{'name':'HOME','value':'/tmp'}],"                                                                      \
	"'readinessProbe':{'httpGet':{'path':'/','port':6006},'periodSeconds':5,'timeoutSeconds':5},"                  \
	"'securityContext':{'allowPrivilegeEscalation':false,'readOnlyRootFilesystem':true,"                           \
	"'capabilities':{'drop':['ALL']}}"

/* What passes the standard: nobody's rights, nothing to write but /tmp. */
static void test_pod(void **state)
{
	struct bench b = BENCH_INIT;
	struct job *job = read_job(&b, DOC, "{'tensorboard':{'logDir':'s3://b/\\\"x'}}");
	const struct role *role = companion_role(job);

	(void)state;
	assert_true(role->aux && role->service && role->count == 1 && role->companion);
	assert_int_equal(role->companion->ttl, -1);
	assert_int_equal(role->companion->service, SERVICE_CLUSTER_IP);
	assert_int_equal(role->n_containers, 1);
	assert_true(role->containers[0].counts);
	assert_int_equal(role->restart.policy, RESTART_ALWAYS);
	assert_int_equal(role->restart.limit, -1);
	check_template(role, "{'metadata':{'annotations':{'dl-operator.mpba.fbk.eu/tensorboard':'s3://b/\\\"x'}},"
	                     "'spec':{" SAFE ",'volumes':[{'name':'tensorboard-tmp','emptyDir':{}}],"
	                     "'containers':[{'name':'tensorboard','image':'tensorflow/tensorflow','command':"
	                     "['tensorboard','--logdir','s3://b/\\\"x'," SERVES ","
	                     "'volumeMounts':[{'name':'tensorboard-tmp','mountPath':'/tmp'}]}]}}");
	bench_release(&b);
}

/* The kind's words where the user has none; the user's volumes, and a /tmp of his own. */
static void test_own(void **state)
{
	struct bench b = BENCH_INIT;
	struct job *job = read_job(&b,
	                           "{'roles':[" WORKER "],'own':{'tensorboard':{'logDir':'/tmp/x',"
	                           "'volumes':[{'name':'a','nfs':{'server':'s'}}],"
	                           "'volumeMounts':[{'name':'a','mountPath':'/tmp/'}]}},"
	                           "'default':{'tensorboard':{'image':'tf:1'}},"
	                           "'tensorboard':{'name':'job-tb','labels':{'app':'tensorboard'}}}",
	                           "{'tensorboard':{'ttlSecondsAfterFinished':60,'serviceType':'LoadBalancer'}}");
	const struct role *role = companion_role(job);

	(void)state;
	assert_int_equal(role->companion->ttl, 60);
	assert_string_equal(service_type_name(role->companion->service), "LoadBalancer");
	assert_true(str_eqc(role->companion->name, "job-tb"));
	assert_true(str_eqc(json_str(json_get(role->companion->labels, "app")), "tensorboard"));
	check_template(role, "{'metadata':{'annotations':{'dl-operator.mpba.fbk.eu/tensorboard':'/tmp/x'}},"
	                     "'spec':{" SAFE ",'volumes':[{'name':'a','nfs':{'server':'s'}}],"
	                     "'containers':[{'name':'job-tb','image':'tf:1','command':"
	                     "['tensorboard','--logdir','/tmp/x'," SERVES ","
	                     "'volumeMounts':[{'name':'a','mountPath':'/tmp/'}]}]}}");
	bench_release(&b);
}

/* What a kind calls it does not make one. */
static void test_none(void **state)
{
	struct bench b = BENCH_INIT;
	struct job *job = read_job(&b,
	                           "{'roles':[" WORKER "],'default':{'tensorboard':{'image':'tf:1'}},"
	                           "'tensorboard':{'name':'job-tb'}}",
	                           "{'restart':{'limit':1}}");

	(void)state;
	assert_int_equal(job->n_roles, 1);
	bench_release(&b);
}

/* The pace of its restarts is the user's, the rest is not. */
static void test_pace(void **state)
{
	struct bench b = BENCH_INIT;
	struct job *job = read_job(&b, DOC,
	                           "{'tensorboard':{'logDir':'/l'},'restart':{'policy':'Never','scope':'Job',"
	                           "'backoff':{'initialSeconds':3}},"
	                           "'roles':{'TensorBoard':{'restart':{'backoff':{'maxSeconds':7}}}}}");
	const struct role *role = companion_role(job);

	(void)state;
	assert_int_equal(role->restart.policy, RESTART_ALWAYS);
	assert_int_equal(role->restart.scope, SCOPE_POD);
	assert_int_equal(role->restart.backoff_initial, 3);
	assert_int_equal(role->restart.backoff_max, 7);
	assert_int_equal(job->roles[0].restart.policy, RESTART_NEVER);
	bench_release(&b);
}

/* The record has room for so many roles and no more. */
static void test_too_many_roles(void **state)
{
	struct bench b = BENCH_INIT;
	struct buf doc = BUF_INIT(1 << 20);
	struct job *job;

	(void)state;
	buf_put(&doc, STR("{'roles':["));
	for (int i = 0; i < JOB_MAX_ROLES; i++)
		buf_printf(&doc, "%s{'name':'r%d','count':1,'template':" TEMPLATE "}", i ? "," : "", i);
	buf_put(&doc, STR("]}"));
	job = read_job(&b, doc.p, "{'tensorboard':{'logDir':'/l'}}");
	assert_string_equal(problems_text(&b, &job->problems), "spec.policy.tensorboard: the job already has 64 roles");
	assert_int_equal(job->n_roles, JOB_MAX_ROLES);
	buf_release(&doc);
	bench_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases), cmocka_unit_test(test_pod),  cmocka_unit_test(test_own),
		cmocka_unit_test(test_none),  cmocka_unit_test(test_pace), cmocka_unit_test(test_too_many_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
