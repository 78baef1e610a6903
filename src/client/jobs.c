#include "client/jobs.h"

bool session_begin(struct cli_session *s, bool silent)
{
	s->kinds = cli_kinds(s->cli);
	return s->kinds && remote_open(&s->remote, s->cli, &s->flags, silent);
}

void session_end(struct cli_session *s)
{
	if (s->remote.loop)
		remote_close(&s->remote);
	kinds_free(s->kinds);
}

/* Adds those that NAME means. False, with the error said, if it fits none. */
static bool choose(struct cli *cli, const struct kinds *kinds, struct str name, bool *wanted)
{
	bool any = false;

	for (size_t i = 0; i < kinds_count(kinds); i++)
		if (kind_is_named(kinds_at(kinds, i), name))
			wanted[i] = any = true;
	if (!any)
		cli->status = cli_fail(cli, CLI_INVALID, "there is no kind '%.*s'; see 'dljob kinds'", STR_F(name));
	return any;
}

static bool *all_or_none(struct cli *cli, const struct kinds *kinds, bool all)
{
	bool *wanted = arena_array(&cli->arena, bool, kinds_count(kinds));

	for (size_t i = 0; i < kinds_count(kinds); i++)
		wanted[i] = all;
	return wanted;
}

const bool *kinds_choose(struct cli *cli, const struct kinds *kinds, int n, char **names)
{
	bool *wanted = all_or_none(cli, kinds, n == 0);

	for (int i = 0; i < n; i++)
		if (!choose(cli, kinds, str_c(names[i]), wanted))
			return NULL;
	return wanted;
}

struct str kind_title(const struct kinds *kinds, const struct kind *k)
{
	for (size_t i = 0; i < kinds_count(kinds); i++) {
		const struct kind *other = kinds_at(kinds, i);

		if (other != k && str_eq_nocase(other->kind, k->kind))
			return k->id;
	}
	return k->kind;
}

/* What the answers for all kinds come to. True: there is at least one kind whose jobs can be seen. */
static bool judge(struct remote *r, const struct kinds *kinds, struct job_list *l, const bool *wanted)
{
	const struct remote_list *refused = NULL;
	size_t ok = 0, unknown = 0, asked = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct remote_list *one = &l->lists[i];

		if (!wanted[i])
			continue;
		asked++;
		l->served[i] = one->code == HTTP_OK;
		ok += one->code == HTTP_OK;
		unknown += one->code == HTTP_NOT_FOUND;
		if (one->code != HTTP_OK && one->code != HTTP_NOT_FOUND) {
			refused = one;
			/* What one may see is shown; a server that is not there is told of once. */
			if (one->code == 0 || one->code == HTTP_UNAUTHORIZED)
				break;
		}
	}
	if (refused) {
		const struct kind *k = kinds_at(kinds, (size_t)(refused - l->lists));
		struct str what = arena_printf(&r->arena, "list %.*s", STR_F(kind_title(kinds, k)));

		r->cli->status = remote_refused(r, what.p, refused->code, refused->message);
		l->partial = ok > 0;
		return ok > 0;
	}
	if (unknown < asked)
		return true;
	if (asked == 1)
		for (size_t i = 0; i < l->n; i++)
			if (wanted[i])
				cli_fail(r->cli, CLI_FAILED,
				         "%.*s is not installed on this cluster: run 'dl-operator install-crds', or "
				         "'dljob crds %.*s | kubectl apply -f -'",
				         STR_F(kind_title(kinds, kinds_at(kinds, i))), STR_F(kinds_at(kinds, i)->id));
	if (asked > 1)
		cli_fail(r->cli, CLI_FAILED,
		         "none of the kinds is installed on this cluster: run 'dl-operator install-crds', or "
		         "'dljob crds | kubectl apply -f -'");
	r->cli->status = CLI_FAILED;
	return false;
}

bool jobs_list(struct remote *r, const struct kinds *kinds, const struct job_query *q, struct job_list *ret)
{
	size_t n = kinds_count(kinds), asked = 0;
	struct remote_list *lists = arena_array(&r->arena, struct remote_list, n);
	bool *wanted = arena_array(&r->arena, bool, n), ok;

	*ret = (struct job_list){ .lists = arena_array(&r->arena, struct remote_list, n),
		                  .served = arena_array(&r->arena, bool, n),
		                  .n = n };
	for (size_t i = 0; i < n; i++) {
		wanted[i] = !q->kinds || q->kinds[i];
		if (wanted[i])
			lists[asked++] = (struct remote_list){
				.resource = remote_kind(kinds_at(kinds, i)),
				.options = { .ns = q->ns, .label_selector = q->selector },
			};
	}
	ok = remote_lists(r, lists, asked);
	for (size_t i = 0, at = 0; i < n; i++) {
		if (!wanted[i])
			continue;
		ret->lists[i] = lists[at++];
		for (size_t j = 0; j < ret->lists[i].items.n; j++)
			*vec_push(&r->arena, &ret->jobs) =
				(struct job_of){ kinds_at(kinds, i), ret->lists[i].items.v[j] };
	}
	return ok && judge(r, kinds, ret, wanted);
}

void job_list_release(struct job_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		remote_list_release(&l->lists[i]);
}

/* A name that may stand in a path: the server would take another one for something else. */
static bool is_object_name(struct str s)
{
	if (str_empty(s) || s.n > 253 || s.p[0] == '.' || s.p[0] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'))
			return false;
	}
	return true;
}

bool job_name_read(struct cli *cli, const struct kinds *kinds, const char *text, struct job_name *ret)
{
	const char *slash = strchr(text, '/');
	struct str kind = slash ? (struct str){ text, (size_t)(slash - text) } : STR_NONE;
	bool *wanted = all_or_none(cli, kinds, !slash);

	*ret = (struct job_name){ wanted, str_c(slash ? slash + 1 : text) };
	if (!is_object_name(ret->name)) {
		cli->status = cli_fail(cli, CLI_INVALID, "'%s' cannot be the name of a job", text);
		return false;
	}
	return !slash || choose(cli, kinds, kind, wanted);
}

/* There is no such job: is there one that was perhaps meant? */
static void none(struct remote *r, const struct kinds *kinds, const struct job_name *name)
{
	struct job_query q = { .ns = r->ns };
	struct str nearest = STR_NONE;
	struct job_list all;
	unsigned least = 3;

	if (!jobs_list(r, kinds, &q, &all)) {
		job_list_release(&all);
		return;
	}
	for (size_t i = 0; i < all.jobs.n; i++) {
		struct str other = json_str(json_at(all.jobs.v[i].root, "metadata", "name", NULL));
		unsigned d = str_distance(name->name, other, 2);

		if (d < least) {
			least = d;
			nearest = least ? other
			                : arena_printf(&r->arena, "%.*s/%.*s", STR_F(all.jobs.v[i].kind->id),
			                               STR_F(other));
		}
	}
	if (nearest.n)
		r->cli->status =
			cli_fail(r->cli, CLI_FAILED, "there is no job %.*s in namespace %.*s; did you mean %.*s?",
		                 STR_F(name->name), STR_F(r->ns), STR_F(nearest));
	else
		r->cli->status = cli_fail(r->cli, CLI_FAILED,
		                          "there is no job %.*s in namespace %.*s; 'dljob list -A' shows all jobs",
		                          STR_F(name->name), STR_F(r->ns));
	job_list_release(&all);
}

static void several(struct remote *r, const struct job_name *name, const struct kind *const *of,
                    const struct remote_call *calls, size_t n)
{
	struct str choices = STR_NONE;

	for (size_t i = 0; i < n; i++)
		if (remote_ok(&calls[i]))
			choices = arena_printf(&r->arena, "%.*s%s%.*s/%.*s", STR_F(choices), choices.n ? " or " : "",
			                       STR_F(of[i]->id), STR_F(name->name));
	r->cli->status = cli_fail(r->cli, CLI_INVALID, "there are several jobs %.*s: use %.*s", STR_F(name->name),
	                          STR_F(choices));
}

bool job_find(struct remote *r, const struct kinds *kinds, const char *text, struct job_found *ret)
{
	size_t n = 0, found = 0, at = 0;
	struct remote_call *calls = arena_array(&r->arena, struct remote_call, kinds_count(kinds));
	const struct kind **of = arena_array(&r->arena, const struct kind *, kinds_count(kinds));
	const struct remote_call *refused = NULL;
	struct job_name name;
	bool ok;

	*ret = (struct job_found){ 0 };
	if (!job_name_read(r->cli, kinds, text, &name))
		return false;
	for (size_t i = 0; i < kinds_count(kinds); i++) {
		struct kube_resource where = remote_kind(kinds_at(kinds, i));

		if (!name.kinds[i])
			continue;
		of[n] = kinds_at(kinds, i);
		calls[n++].path = remote_path(r, &where, r->ns, name.name);
	}
	if (!remote_do(r, calls, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (remote_ok(&calls[i])) {
			at = i;
			found++;
		} else if (calls[i].code != HTTP_NOT_FOUND) {
			refused = &calls[i];
		}
	}
	ok = found == 1;
	if (found > 1)
		several(r, &name, of, calls, n);
	else if (!found && !refused)
		none(r, kinds, &name);
	else if (!found)
		r->cli->status =
			remote_refused(r, arena_printf(&r->arena, "read %s", text).p, refused->code, refused->message);
	for (size_t i = 0; i < n; i++)
		if (!ok || i != at)
			remote_call_release(&calls[i]);
	if (ok)
		*ret = (struct job_found){ { of[at], calls[at].root }, r->ns, name.name, calls[at] };
	return ok;
}

void job_found_release(struct job_found *f)
{
	remote_call_release(&f->call);
}

struct str job_path(struct remote *r, const struct job_found *f)
{
	struct kube_resource where = remote_kind(f->job.kind);

	return remote_path(r, &where, f->ns, f->name);
}
