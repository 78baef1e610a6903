/* dljob run: the job goes into the store; its record and its pods come back from there. */
#include "run/internal.h"

#include "base/json.h"
#include "local/store/store.h"
#include "object/object.h"

enum { OBJECT_TEXT_MAX = 16 << 20 };

/* The version of a builtin type or of a kind, as an object names it. */
static const struct store_type *type_of(struct store *s, yyjson_val *root)
{
	struct str api = json_str(json_get(root, "apiVersion")), kind = json_str(json_get(root, "kind"));
	const struct store_type *t;

	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		struct str group = str_empty(t->group) ? STR_NONE : str_sub(api, 0, t->group.n),
			   version = str_empty(t->group) ? api : str_sub(api, t->group.n + 1, api.n);

		if (str_eq(t->kind, kind) && str_eq(t->group, group) && str_eq(t->version, version))
			return t;
	}
	return NULL;
}

static bool put_object(struct run *r, yyjson_val *root, struct err *e)
{
	struct store *s = embedded_store(r->em);
	struct store_request q = { .verb = STORE_CREATE, .type = type_of(s, root) };
	struct str kind = json_str(json_get(root, "kind")), name = json_str(json_at(root, "metadata", "name", NULL)),
		   ns = json_str(json_at(root, "metadata", "namespace", NULL));
	struct buf text = BUF_INIT(OBJECT_TEXT_MAX);
	struct store_answer a = { 0 };
	yyjson_doc *doc;
	bool ok;

	if (!q.type)
		return err_set(e, ERR_INVALID, "%.*s %.*s: not supported on this machine", STR_F(kind), STR_F(name));
	q.ns = !q.type->namespaced ? STR_NONE : str_empty(ns) ? r->input.ns : ns;
	json_write_val(root, &text);
	q.body = buf_str(&text);
	store_call(s, &q, &a);
	ok = a.code == HTTP_CREATED;
	if (!ok) {
		doc = json_parse(buf_str(&a.body), NULL);
		err_set(e, ERR_INVALID, "%.*s %.*s: %.*s", STR_F(kind), STR_F(name),
		        STR_F(json_str(json_get(yyjson_doc_get_root(doc), "message"))));
		yyjson_doc_free(doc);
	}
	store_answer_release(&a);
	buf_release(&text);
	return ok;
}

/* The namespace of the job need not be made first. */
static void make_namespace(struct run *r)
{
	struct store *s = embedded_store(r->em);
	struct store_request q = { .verb = STORE_CREATE,
		                   .type = store_type(s, STR_NONE, STR("v1"), STR("namespaces")) };
	struct store_answer a = { 0 };

	q.body = arena_printf(&r->cli->arena,
	                      "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%.*s\"}}",
	                      STR_F(r->input.ns));
	store_call(s, &q, &a);
	store_answer_release(&a);
}

static void on_job(void *cookie, const struct store_event *ev)
{
	struct run *r = cookie;
	yyjson_val *root = store_event_root(ev);
	struct arena *a = &r->arenas[!r->turn];
	struct record *record;

	if (str_eq(json_str(json_at(root, "metadata", "name", NULL)), r->input.name)) {
		arena_reset(a);
		record = record_read(json_at(root, "status", "dlOperator", NULL), a, NULL);
		if (record) {
			r->record = record;
			r->turn = !r->turn;
		}
		r->told = true;
		if (ev->change == STORE_DELETED && r->end == RUN_GOES_ON)
			r->end = r->record && phase_final(r->record->phase) ? RUN_FINISHED : RUN_INTERRUPTED;
		loop_timer_set(r->timer, 0);
	}
}

/* A companion that waits says what for: once, and the job goes on without it. */
static void note_companion(struct run *r, yyjson_val *pod)
{
	yyjson_val *status = yyjson_arr_get(json_at(pod, "status", "containerStatuses", NULL), 0);
	struct str message = json_str(json_at(status, "state", "waiting", "message", NULL));

	if (!message.n || r->options->quiet || map_get(&r->notes, message) || !companion_of_pod(pod))
		return;
	message = arena_str(&r->cli->arena, message);
	map_put(&r->notes, message, r);
	run_say(r, "note: %.*s", STR_F(message));
}

static void on_pod(void *cookie, const struct store_event *ev)
{
	struct run *r = cookie;
	yyjson_val *root = store_event_root(ev);
	struct run_pod *p = map_get(&r->pods, json_str(json_at(root, "metadata", "uid", NULL)));

	if (!p && ev->change != STORE_DELETED)
		p = run_pod_new(r, root);
	if (p && str_eqc(json_str(json_at(root, "status", "phase", NULL)), "Running"))
		run_pod_running(r, p);
	if (p && ev->change == STORE_DELETED)
		run_pod_free(r, p);
	note_companion(r, root);
	loop_timer_set(r->timer, 0);
}

static bool watch(struct run *r, struct store_watch **ret, const struct store_type *type,
                  void (*event)(void *, const struct store_event *), struct err *e)
{
	struct store_watch_config c = { .type = type, .event = event, .cookie = r };

	*ret = store_watch_new(embedded_store(r->em), &c, e);
	return *ret != NULL;
}

bool run_submit(struct run *r, struct err *e)
{
	struct store *s = embedded_store(r->em);

	if (!watch(r, &r->watches[0],
	           store_type(s, r->input.kind->group, r->input.kind->version, r->input.kind->plural), on_job, e) ||
	    !watch(r, &r->watches[1], store_type(s, STR_NONE, STR("v1"), STR("pods")), on_pod, e))
		return false;
	if (!str_eqc(r->input.ns, "default"))
		make_namespace(r);
	for (size_t i = 0; i < r->input.others.n; i++) {
		yyjson_doc *doc = json_parse(r->input.others.v[i], NULL);
		bool ok = put_object(r, yyjson_doc_get_root(doc), e);

		yyjson_doc_free(doc);
		if (!ok)
			return false;
	}
	return put_object(r, r->input.job, e);
}

void run_watch_release(struct run *r)
{
	struct str key;
	void *p;
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_LEN(r->watches); i++)
		if (r->watches[i])
			store_watch_free(r->watches[i]);
	while (map_next(&r->pods, &at, &key, &p)) {
		run_pod_free(r, p);
		at = 0;
	}
	map_release(&r->pods);
	map_release(&r->notes);
}
