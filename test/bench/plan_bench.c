/* How fast is the plan? A settled job is the case that counts: most jobs, most of the time. */
#include "bench.h"

#include "base/json.h"
#include "base/map.h"
#include "plan/plan.h"

static const char template_text[] = "{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"img\"}]}}";

struct world {
	struct arena arena;
	yyjson_doc *doc;
	struct job *job;
	struct pod *pods;
	const struct pod **pod_list;
	struct service *services;
	const struct service **service_list;
	struct map nodes;
	struct fleet fleet;
	struct plan_input in;
};

static void make_job(struct world *w, int32_t count)
{
	struct job_identity id = { .kind = STR("Bench.example.org"),
		                   .ns = STR("default"),
		                   .name = STR("bench"),
		                   .uid = STR("0f0f0f0f-0000-8000-8000-000000000000"),
		                   .created = SECONDS(1000),
		                   .generation = 1 };
	struct str text =
		arena_printf(&w->arena,
	                     "{\"roles\":[{\"name\":\"worker\",\"title\":\"WORKER\",\"path\":\"spec\",\"count\":%d,"
	                     "\"service\":true,\"template\":%s,\"containers\":{\"first\":true},"
	                     "\"ports\":[{\"name\":\"port\",\"port\":2222}]}]}",
	                     count, template_text);
	struct err e = ERR_INIT;

	w->doc = json_parse(text, &e);
	ASSERT(w->doc);
	w->job = job_read(&w->arena, &id, yyjson_doc_get_root(w->doc), NULL, STR("spec.policy"), NULL);
	if (w->job->problems.errors)
		BUG("the job is invalid: %s", problems_line(&w->job->problems, &w->arena).p);
}

static void make_children(struct world *w, int32_t count)
{
	struct container *containers = arena_array(&w->arena, struct container, count);

	w->pods = arena_array(&w->arena, struct pod, count);
	w->pod_list = arena_array(&w->arena, const struct pod *, count);
	w->services = arena_array(&w->arena, struct service, count);
	w->service_list = arena_array(&w->arena, const struct service *, count);
	for (int32_t i = 0; i < count; i++) {
		struct meta meta = { .ns = w->job->ns,
			             .name = arena_printf(&w->arena, "bench-worker-%d", i),
			             .uid = arena_printf(&w->arena, "pod-%d", i),
			             .rv = STR("1"),
			             .owner_uid = w->job->uid,
			             .created = SECONDS(1001) };

		containers[i] = (struct container){ .name = STR("main"), .state = CONTAINER_RUNNING };
		w->pods[i] = (struct pod){ .meta = meta,
			                   .job_uid = w->job->uid,
			                   .role = STR("worker"),
			                   .index = i,
			                   .phase = POD_RUNNING,
			                   .node = STR("node-1"),
			                   .started = SECONDS(1002),
			                   .ready = true,
			                   .containers = &containers[i],
			                   .n_containers = 1 };
		w->services[i] =
			(struct service){ .meta = meta, .job_uid = w->job->uid, .role = STR("worker"), .index = i };
		w->pod_list[i] = &w->pods[i];
		w->service_list[i] = &w->services[i];
	}
}

static void make_world(struct world *w, int32_t count)
{
	static struct node node = { .name = STR_INIT("node-1"), .ready = true, .since = SECONDS(1) };

	make_job(w, count);
	make_children(w, count);
	map_put(&w->nodes, node.name, &node);
	w->fleet = (struct fleet){ .nodes = &w->nodes, .total = 1 };
	w->in = (struct plan_input){ .job = w->job,
		                     .pods = w->pod_list,
		                     .n_pods = (size_t)count,
		                     .services = w->service_list,
		                     .n_services = (size_t)count,
		                     .fleet = &w->fleet,
		                     .config = &plan_config_default,
		                     .now = SECONDS(2000) };
}

/* Lets the record settle: as often as the plan wants to write, it is written. */
static void settle(struct world *w)
{
	for (int i = 0; i < 10; i++) {
		struct plan p = plan_job(&w->in, &w->arena);

		if (p.write == CHANGE_NONE && p.n_actions == 0)
			return;
		w->in.record = record_copy(p.record, &w->arena);
		w->in.status_written = w->in.now;
		w->in.now += SECONDS(10);
	}
	BUG("the plan does not settle");
}

static void release(struct world *w)
{
	map_release(&w->nodes);
	yyjson_doc_free(w->doc);
	arena_release(&w->arena);
}

/* Seconds for one plan: the best of some rounds of ROUND plans each. */
static double measure(const struct plan_input *in, int round)
{
	struct arena a = ARENA_INIT;
	double best = 1e9;

	for (int r = 0; r < 7; r++) {
		double start = bench_now(), each;

		for (int i = 0; i < round; i++) {
			plan_job(in, &a);
			arena_reset(&a);
		}
		each = (bench_now() - start) / round;
		best = MIN(best, each);
	}
	arena_release(&a);
	return best;
}

void bench_plan(void)
{
	struct world small = { .arena = ARENA_INIT }, large = { .arena = ARENA_INIT }, new = { .arena = ARENA_INIT };

	make_world(&small, 8);
	settle(&small);
	bench_result("plans of a settled job, 8 replicas", 1 / measure(&small.in, 20000), MORE_IS_BETTER, 500000, "/s");
	release(&small);

	make_world(&large, 10000);
	settle(&large);
	bench_result("plan of a settled job, 10,000 replicas", measure(&large.in, 20) * 1e3, LESS_IS_BETTER, 5, "ms");
	release(&large);

	make_world(&new, 10000);
	new.in.n_pods = new.in.n_services = 0;
	bench_result("plan of a new job, 10,000 replicas", measure(&new.in, 20) * 1e3, LESS_IS_BETTER, 5, "ms");
	release(&new);
}
