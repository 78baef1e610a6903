/* A create's body is read as the server would, and must be what it says it is. */
#include "sim/body.h"
#include "sim/groups.h"
#include "sim/sim.h"

const char *body_read(struct sim *s, struct sim_request *r)
{
	yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)r->r.body.p, r->r.body.n, 0, sim_alc(s), NULL);
	yyjson_val *root = yyjson_doc_get_root(doc), *meta = json_get(root, "metadata"),
		   *labels = json_get(meta, "labels");
	yyjson_val *owner = yyjson_arr_get(json_get(meta, "ownerReferences"), 0), *spec = json_get(root, "spec"), *list,
		   *c;
	struct str job_uid = json_str(json_get(labels, LABEL_UID)), role = json_str(json_get(labels, LABEL_ROLE));
	bool pod = r->r.resource == RES_POD;
	struct container *containers;
	int64_t index, generation = 0;
	size_t i, max;

	if (!doc)
		return "no JSON";
	if (!str_eq(json_str(json_get(meta, "name")), r->r.name))
		return "another name than the request's";
	r->owner_uid = json_str(json_get(owner, "uid"));
	if (!r->owner_uid.n || !yyjson_is_true(json_get(owner, "controller")))
		return "no owner";
	if (r->r.resource == RES_GROUP)
		return groups_read(s, r, root);
	if (!str_eq(json_str(json_get(root, "kind")), pod ? STR("Pod") : STR("Service")))
		return "wrong kind";
	if (!str_eq(job_uid, r->owner_uid) || !role.n || !str_int(json_str(json_get(labels, LABEL_INDEX)), &index))
		return "labels are missing";
	if (!json_get(labels, LABEL_KIND) || !json_get(labels, LABEL_JOB))
		return "labels are missing";
	if (!pod) {
		r->service = (struct service){ .job_uid = job_uid, .role = role, .index = (int32_t)index };
		return NULL;
	}
	if (!str_int(json_str(json_get(labels, LABEL_GENERATION)), &generation))
		return "no generation";
	if (!str_eqc(json_str(json_get(spec, "restartPolicy")), "Never"))
		return "a restartPolicy other than Never";
	list = json_get(spec, "containers");
	r->in_place = json_get(yyjson_arr_get(list, 0), "restartPolicy") != NULL;
	r->sidecar_again = json_get(yyjson_arr_get(list, 1), "restartPolicy") != NULL;
	r->pod = (struct pod){ .job_uid = job_uid,
		               .role = role,
		               .index = (int32_t)index,
		               .generation = generation,
		               .tolerations = tolerations_read(json_get(spec, "tolerations")) };
	containers = arena_array(s->arena, struct container, SIM_CONTAINERS);
	if (json_get(spec, "initContainers"))
		containers[r->n_containers++] = (struct container){ .name = STR("prepare"), .init = true };
	yyjson_arr_foreach(list, i, max, c)
	{
		if (r->n_containers == SIM_CONTAINERS)
			return "too many containers";
		containers[r->n_containers++] = (struct container){ .name = json_str(json_get(c, "name")) };
	}
	r->pod.containers = containers;
	return NULL;
}
