/* How long does reading a job take? The operator reads it anew at every edit. */
#include "bench.h"

#include "base/yaml.h"
#include "kind/kind.h"

enum { RUNS = 7 };

#define STARTED "status: {dlOperator: {version: 1, phase: Running, startTime: '2026-01-01T00:00:00Z'}}\n"

static const char tf[] = "apiVersion: mlkube.io/v1beta1\n"
			 "kind: TfJob\n"
			 "metadata: {name: large, uid: 11111111-2222}\n"
			 "spec: {replicaSpecs: [\n"
			 "  {replicas: 1, tfReplicaType: MASTER, template: &t {spec: {containers: [{name: tensorflow, "
			 "image: img}]}}},\n"
			 "  {replicas: 949, tfReplicaType: WORKER, template: *t},\n"
			 "  {replicas: 50, tfReplicaType: PS, template: *t}]}\n";
static const char mx[] = "apiVersion: fioravanzo.org/v1alpha1\n"
			 "kind: MXJob\n"
			 "metadata: {name: large, uid: 11111111-2222}\n"
			 "spec: {replicaSpecs: [\n"
			 "  {replicas: 1, mxReplicaType: SCHEDULER, template: &t {spec: {containers: [{name: mxnet, "
			 "image: img}]}}},\n"
			 "  {replicas: 9949, mxReplicaType: WORKER, template: *t},\n"
			 "  {replicas: 50, mxReplicaType: SERVER, template: *t}]}\n";

static void measure(struct kinds *kinds, const char *what, const char *text, const char *status, double target)
{
	struct err e = ERR_INIT;
	struct arena a = ARENA_INIT;
	struct yaml_file *file = yaml_parse(STR("bench"), arena_printf(&a, "%s%s", text, status), &e);
	yyjson_val *root = file ? yaml_root(file, 0) : NULL;
	const struct kind *kind =
		kinds_find(kinds, json_str(json_get(root, "apiVersion")), json_str(json_get(root, "kind")));
	double best = 1e9;

	for (int i = 0; kind && i < RUNS; i++) {
		double start = bench_now();
		struct kind_job *kj = kind_read(kinds, kind, root, STR_NONE, &e);

		if (!kj || kind_job(kj)->problems.errors)
			kind = NULL;
		best = MIN(best, bench_now() - start);
		kind_job_free(kj);
	}
	if (kind)
		bench_result(what, best * 1e3, LESS_IS_BETTER, target, "ms");
	else
		bench_broken(what, "failed");
	yaml_close(file);
	arena_release(&a);
	err_release(&e);
}

void bench_kind(void)
{
	CLEANUP(kinds_freep) struct kinds *kinds = kinds_new(NULL);

	if (!kinds_load_builtin(kinds, NULL)) {
		bench_broken("kinds", "failed");
		return;
	}
	measure(kinds, "reading a new TfJob, 1,000 replicas", tf, "", 5);
	measure(kinds, "reading one that has started", tf, STARTED, 2);
	measure(kinds, "reading a new MXJob, 10,000 replicas", mx, "", 50);
	measure(kinds, "reading one that has started", mx, STARTED, 2);
}
