#include "client/gather.h"

bool gather_job(struct cli_session *s, const struct job_found *f, struct gathered *ret)
{
	struct remote *r = &s->remote;
	struct str uid = json_str(json_at(f->job.root, "metadata", "uid", NULL));
	struct err e = ERR_INIT;

	*ret = (struct gathered){ 0 };
	ret->lists[0] = (struct remote_list){
		.resource = remote_pods,
		.options = { .ns = f->ns, .label_selector = arena_printf(&r->arena, LABEL_UID "=%.*s", STR_F(uid)) }
	};
	ret->lists[1] = (struct remote_list){ .resource = remote_events, .options = { .ns = f->ns } };
	if (!remote_lists(r, ret->lists, 2))
		return false;
	if (ret->lists[0].code != HTTP_OK) {
		s->cli->status = remote_refused(r, "list its pods", ret->lists[0].code, ret->lists[0].message);
		return false;
	}
	ret->kj = kind_read(s->kinds, f->job.kind, f->job.root, STR_NONE, &e);
	if (!ret->kj) {
		s->cli->status = cli_fail(s->cli, CLI_FAILED, "%s", err_msg(&e));
		err_release(&e);
		return false;
	}
	ret->tree = (struct tree){ .kind = kind_title(s->kinds, f->job.kind),
		                   .root = f->job.root,
		                   .job = kind_job(ret->kj),
		                   .now = clock_now(&clock_wall) };
	/* A record that cannot be read is left alone by the operator too; the rest is shown. */
	ret->tree.record = record_read(json_at(f->job.root, "status", "dlOperator", NULL), &ret->arena, &e);
	err_release(&e);
	tree_take_pods(&ret->tree, &ret->arena, ret->lists[0].items.v, ret->lists[0].items.n);
	tree_take_events(&ret->tree, &ret->arena, ret->lists[1].items.v, ret->lists[1].items.n);
	return true;
}

void gathered_release(struct gathered *d)
{
	for (size_t i = 0; i < ARRAY_LEN(d->lists); i++)
		remote_list_release(&d->lists[i]);
	kind_job_free(d->kj);
	arena_release(&d->arena);
}
