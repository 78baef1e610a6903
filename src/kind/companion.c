/* The pod and the service of a companion: a role that no kind knows, so nobody is asked but the job. */
#include "kind/companion.h"

#include "kind/hash.h"

enum { JOB_PART = 40, ID_PART = 4 };

struct str kind_companion_name(const struct kind_job *kj, const struct companion *c, struct arena *a)
{
	struct str job = str_sub(kj->job->name, 0, MIN(kj->job->name.n, (size_t)JOB_PART));
	char id[ID_PART + 1] = "";

	if (c->name.n)
		return c->name;
	hash_text(kj->job->uid, id, ID_PART);
	return arena_printf(a, "%.*s-%s-%.*s", STR_F(job), companion_type(c->id)->name, ID_PART, id);
}

void kind_companion_labels(struct kind_job *kj, const struct companion *c, struct pairs *ret)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(c->labels);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&it))) {
		struct str *value = arena_new(&kj->scratch, struct str);

		*value = json_str(yyjson_obj_iter_get_val(key));
		*vec_push(&kj->scratch, &ret->list) = (struct pair){ json_str(key), value, 1 };
	}
}
