#include "client/create.h"

#include "client/waiting.h"
#include "object/delete_options.h"
#include "term/plain.h"

enum { BODY_MAX = 4 << 20 };

bool create_foreign(yyjson_val *root, struct kube_resource *ret)
{
	static const struct {
		const char *kind;
		struct str plural;
	} known[] = {
		{ "ConfigMap", STR_INIT("configmaps") },
		{ "Secret", STR_INIT("secrets") },
		{ "Service", STR_INIT("services") },
		{ "PersistentVolumeClaim", STR_INIT("persistentvolumeclaims") },
	};

	if (!str_eqc(json_str(json_get(root, "apiVersion")), "v1"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (str_eqc(json_str(json_get(root, "kind")), known[i].kind)) {
			*ret = (struct kube_resource){ STR_NONE, STR("v1"), known[i].plural, true };
			return true;
		}
	}
	return false;
}

static enum create_result refused(struct cli_session *s, const struct job_creation *c, const struct remote_call *call)
{
	struct str what = arena_printf(&s->remote.arena, "create %.*s/%.*s", STR_F(c->what), STR_F(c->name));

	if (call->code == HTTP_CONFLICT)
		return CREATE_EXISTS;
	/* The server knows the namespace, or says so; an unknown kind is answered without any word of it. */
	if (call->code == HTTP_NOT_FOUND && str_empty(call->reason) && c->kind)
		s->cli->status = cli_fail(s->cli, CLI_FAILED,
		                          "%.*s is not installed on this cluster: run 'dl-operator install-crds', or "
		                          "'dljob crds %.*s | kubectl apply -f -'",
		                          STR_F(c->what), STR_F(c->kind->id));
	else
		s->cli->status = remote_refused(&s->remote, what.p, call->code, call->message);
	return CREATE_FAILED;
}

enum create_result create_object(struct cli_session *s, const struct job_creation *c, struct job_found *ret)
{
	struct remote *r = &s->remote;
	struct buf body = BUF_INIT(BODY_MAX);
	struct remote_call call = {
		.method = HTTP_POST,
		.path = kube_list_path(&c->resource, &(struct kube_list_options){ .ns = c->ns }, &r->arena),
	};
	enum create_result result = CREATE_FAILED;

	json_write_val(yyjson_doc_get_root(c->doc), &body);
	call.body = buf_str(&body);
	if (body.overflow)
		s->cli->status =
			cli_fail(s->cli, CLI_INVALID, "%.*s is larger than any API server accepts", STR_F(c->name));
	else if (remote_do(r, &call, 1))
		result = remote_ok(&call) ? CREATE_DONE : refused(s, c, &call);
	buf_release(&body);
	if (result == CREATE_DONE && ret)
		*ret = (struct job_found){ .job = { c->kind, call.root },
			                   .ns = c->ns,
			                   .name = json_str(json_at(call.root, "metadata", "name", NULL)),
			                   .call = call };
	else
		remote_call_release(&call);
	return result;
}

void creation_release(struct job_creation *c)
{
	yyjson_doc_free(c->doc);
	c->doc = NULL;
}

enum exit_code job_delete(struct cli_session *s, const struct job_found *f, bool wait)
{
	struct str uid = json_str(json_at(f->job.root, "metadata", "uid", NULL));
	struct remote_call call = { .method = HTTP_DELETE, .path = job_path(&s->remote, f) };
	struct str what = arena_printf(&s->remote.arena, "delete %.*s", STR_F(f->name));
	struct buf options = BUF_INIT(DELETE_OPTIONS_MAX);
	enum exit_code status = CLI_OK;

	delete_options_put(&options, &(struct delete_options){ -1, uid, STR("Background") });
	call.body = arena_str(&s->remote.arena, buf_str(&options));
	buf_release(&options);
	if (!remote_do(&s->remote, &call, 1))
		status = s->cli->status;
	else if (!remote_ok(&call) && call.code != HTTP_NOT_FOUND)
		status = remote_refused(&s->remote, what.p, call.code, call.message);
	else if (wait)
		status = job_wait(s, f, WAIT_DELETED);
	else
		plain_printf(stdout, "%.*s is being deleted\n", STR_F(f->name));
	remote_call_release(&call);
	return status;
}
