#include "client/render.h"

bool selection_has(const struct replica_selection *s, const struct role *role, int32_t index)
{
	return (str_empty(s->role) || str_eq_nocase(s->role, role->name)) && (s->index < 0 || s->index == index);
}

bool selection_check(const struct replica_selection *s, const struct job *job, struct err *e)
{
	bool role_there = false;

	for (size_t r = 0; r < job->n_roles; r++) {
		const struct role *role = &job->roles[r];

		if (!str_empty(s->role) && !str_eq_nocase(s->role, role->name))
			continue;
		role_there = true;
		if (s->index < role->count)
			return true;
	}
	if (!role_there)
		return err_set(e, ERR_INVALID, "%.*s has no role '%.*s'", STR_F(job->name), STR_F(s->role));
	return err_set(e, ERR_INVALID, "%.*s has no replica with index %d", STR_F(job->name), s->index);
}

enum render_child_kind { CHILD_SERVICE, CHILD_POD };

static bool render_child(struct kind_job *kj, enum render_child_kind child, size_t role, int32_t index,
                         struct buf *text, struct err *e)
{
	buf_clear(text);
	switch (child) {
	case CHILD_SERVICE:
		return kind_service(kj, role, index, text, e);
	case CHILD_POD:
		return kind_pod(kj, role, index, 0, 0, text, e);
	}
	BUG("child %d", (int)child);
}

static bool render_children(struct kind_job *kj, enum render_child_kind child, const struct replica_selection *s,
                            struct object_list *out, struct buf *text, struct err *e)
{
	const struct job *job = kind_job(kj);

	for (size_t r = 0; r < job->n_roles; r++) {
		const struct role *role = &job->roles[r];

		if (child == CHILD_SERVICE && !role->service)
			continue;
		for (int32_t i = 0; i < role->count; i++) {
			if (!selection_has(s, role, i))
				continue;
			if (!render_child(kj, child, r, i, text, e) || !objects_put(out, text, e))
				return false;
			if (cli_output_broken())
				return true; /* main() says so */
		}
	}
	return true;
}

bool render_objects(struct kind_job *kj, const struct replica_selection *s, struct object_list *out, struct err *e)
{
	struct buf text = BUF_INIT(OBJECT_MAX);
	bool ok = render_children(kj, CHILD_SERVICE, s, out, &text, e) &&
	          render_children(kj, CHILD_POD, s, out, &text, e);

	buf_release(&text);
	return ok;
}
