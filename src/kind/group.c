/* Gangs: the PodGroup of a job, and what of it its pods carry. */
#include "kind/gang.h"

#include "job/gang.h"
#include "job/pod_needs.h"

enum gang_kind kind_gang(const struct kind_job *kj)
{
	return gang_kind_of(kj->kinds->gang_scheduler);
}

struct str kind_group_name(struct kind_job *kj)
{
	char *p;

	if (!kj->group_name.n) {
		kj->group_name = arena_str(&kj->arena, kj->job->name);
		/* A job's name may have dots; it becomes a label's value and, with some, a part of a host's name. */
		p = (char *)(uintptr_t)kj->group_name.p;
		for (size_t i = 0; i < kj->group_name.n; i++)
			if (p[i] == '.')
				p[i] = '-';
	}
	return kj->group_name;
}

/* A copy in the job's arena, names included. */
static struct needs keep_needs(struct kind_job *kj, const struct needs *n)
{
	struct needs ret = { 0 };

	needs_add(&ret, n, 1, &kj->arena);
	for (size_t i = 0; i < ret.n; i++)
		ret.v[i].name = arena_str(&kj->arena, ret.v[i].name);
	return ret;
}

static struct needs role_needs(struct kind_job *kj, const struct role *role)
{
	yyjson_val *spec = json_get(role->template, "spec");
	CLEANUP(json_docp) yyjson_doc *accelerated = NULL;
	struct needs n;

	if (kj->accelerators)
		accelerated = accelerators_apply(kj->accelerators, spec);
	n = needs_of_pod(accelerated ? yyjson_doc_get_root(accelerated) : spec, &kj->scratch);
	return keep_needs(kj, &n);
}

void kind_read_needs(struct kind_job *kj)
{
	struct scheduling *s = &kj->job->scheduling;
	struct needs said;

	if (!kj->kinds->gang_scheduler.n || kj->job->problems.errors)
		return;
	for (size_t i = 0; i < kj->job->n_roles; i++)
		if (!kj->job->roles[i].aux)
			kj->job->roles[i].needs = role_needs(kj, &kj->job->roles[i]);
	if (!s->min_resources)
		return;
	said = needs_of_list(s->min_resources, &kj->scratch);
	if (kj->accelerators)
		said = accelerators_rename(kj->accelerators, &said, &kj->scratch);
	s->needs = keep_needs(kj, &said);
}

/* The pods of a gang start all at once. A job that has started without one goes on. */
static void warn_order(struct kind_job *kj, struct str ours)
{
	for (size_t i = 0; i < kj->job->n_roles; i++) {
		if (!kj->job->roles[i].after)
			continue;
		problems_add(&kj->job->problems, kj->started ? PROBLEM_SPARED : PROBLEM_ERROR,
		             STR("spec.policy.startAfter"),
		             "cannot be used with the operator's gang scheduler %.*s, which starts all pods at once",
		             STR_F(ours));
		return;
	}
}

void kind_warn_schedulers(struct kind_job *kj)
{
	struct str ours = kj->kinds->gang_scheduler,
		   theirs = json_str(json_at(kj->object, "spec", "schedulerName", NULL));
	struct problems *p = &kj->job->problems;

	if (!ours.n)
		return;
	warn_order(kj, ours);
	if (theirs.n && !str_eq(theirs, ours))
		problem_warning(p, STR("spec.schedulerName"), "is kept, although the operator's gang scheduler is %.*s",
		                STR_F(ours));
	for (size_t i = 0; i < kj->job->n_roles; i++) {
		const struct role *role = &kj->job->roles[i];

		theirs = json_str(json_at(role->template, "spec", "schedulerName", NULL));
		if (!role->aux && theirs.n && !str_eq(theirs, ours))
			problem_warning(p,
			                arena_printf(&kj->arena, "%.*s.template.spec.schedulerName", STR_F(role->path)),
			                "is kept, although the operator's gang scheduler is %.*s", STR_F(ours));
	}
}

static void put_needs(struct buf *out, const struct needs *want, const struct needs *have)
{
	char text[QUANTITY_TEXT];
	bool first = true;

	if (!want->n && !(have && have->n))
		return;
	buf_put(out, STR(",\"minResources\":{"));
	for (size_t i = 0; i < want->n; i++)
		kind_put_label(out, &first, want->v[i].name, need_write(&want->v[i], text));
	for (size_t i = 0; have && i < have->n; i++) {
		if (needs_has(want, have->v[i].name))
			continue;
		buf_put(out, first ? STR("") : STR(","));
		first = false;
		buf_json_str(out, have->v[i].name);
		buf_put(out, STR(":null"));
	}
	buf_putc(out, '}');
}

static void put_member(struct buf *out, const char *key, struct str value)
{
	if (!value.n)
		return;
	buf_printf(out, ",\"%s\":", key);
	buf_json_str(out, value);
}

/* HAVE: as it stands there; NULL: nothing does. */
static void put_spec(struct kind_job *kj, const struct group *have, const struct gang *want, struct buf *out)
{
	const struct scheduling *s = &kj->job->scheduling;

	buf_printf(out, "\"spec\":{\"minMember\":%d", want->members);
	put_needs(out, &want->needs, have ? &have->needs : NULL);
	if (kind_gang(kj) == GANG_VOLCANO) {
		/* A queue that nobody named is left to whoever changed it since: a namespace may have one of its own.
		 */
		put_member(out, "queue", s->queue.n || have ? s->queue : STR("default"));
		put_member(out, "priorityClassName", s->priority_class);
	} else if (s->timeout >= 0) {
		buf_printf(out, ",\"scheduleTimeoutSeconds\":%d", s->timeout);
	}
	buf_putc(out, '}');
}

bool kind_group(struct kind_job *kj, const struct gang *want, struct buf *out, struct err *e)
{
	const struct gang_api *api = gang_api(kind_gang(kj));
	bool first = true;

	if (kj->job->problems.errors)
		return err_set(e, ERR_INVALID, "the job is invalid");
	buf_printf(out,
	           "{\"apiVersion\":\"%.*s/%.*s\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":", STR_F(api->group),
	           STR_F(api->version));
	buf_json_str(out, kind_group_name(kj));
	buf_put(out, STR(",\"namespace\":"));
	buf_json_str(out, kj->job->ns);
	buf_put(out, STR(",\"labels\":{"));
	kind_put_job_labels(kj, out, &first);
	buf_putc(out, '}');
	kind_put_owner(kj, out);
	buf_put(out, STR("},"));
	put_spec(kj, NULL, want, out);
	buf_putc(out, '}');
	return kind_found_room(out, "PodGroup", kind_group_name(kj), e);
}

bool kind_group_patch(struct kind_job *kj, const struct group *have, const struct gang *want, struct buf *out,
                      struct err *e)
{
	buf_put(out, STR("{\"metadata\":{\"uid\":"));
	buf_json_str(out, have->meta.uid);
	buf_put(out, STR("},"));
	put_spec(kj, have, want, out);
	buf_putc(out, '}');
	return kind_found_room(out, "PodGroup", kind_group_name(kj), e);
}
