#include "cluster/inbox.h"

#include "base/http_code.h"
#include "cluster/decode.h"
#include "cluster/shallow.h"

void inbox_init(struct inbox *in)
{
	*in = (struct inbox){ 0 };
}

static void batch_done(struct inbox_batch *b)
{
	if (b->events || b->open)
		return;
	for (size_t i = 0; i < b->docs.n; i++)
		yyjson_doc_free(*b->docs.v[i]);
	arena_release(&b->arena);
	free(b);
}

static void item_free(struct inbox_item *item)
{
	struct inbox_batch *b = item->batch;

	free(item);
	b->events--;
	batch_done(b);
}

void inbox_release(struct inbox *in)
{
	if (in->out)
		item_free(in->out);
	for (struct inbox_item *i = in->first, *next; i; i = next) {
		next = i->next;
		item_free(i);
	}
	*in = (struct inbox){ 0 };
}

struct inbox_batch *inbox_begin(struct inbox *in)
{
	struct inbox_batch *b = xcalloc(1, sizeof(*b));

	(void)in;
	b->open = true;
	return b;
}

void inbox_end(struct inbox *in, struct inbox_batch *b)
{
	(void)in;
	b->open = false;
	batch_done(b);
}

struct cluster_event *inbox_push(struct inbox *in, struct inbox_batch *b)
{
	struct inbox_item *item = xcalloc(1, sizeof(*item));

	item->batch = b;
	b->events++;
	if (in->last)
		in->last->next = item;
	else
		in->first = item;
	in->last = item;
	in->n++;
	return &item->event;
}

/* A job's object is kept whole, if that can be, in a document of its own. */
static bool keep_job(struct inbox_batch *b, struct object *ret, struct str kind, yyjson_val *val, struct err *e)
{
	struct job_object *job = arena_new(&b->arena, struct job_object);
	struct str left_out = STR_NONE;
	yyjson_doc **doc = arena_new(&b->arena, yyjson_doc *);

	*doc = shallow_copy(val, &left_out, &b->arena);
	*vec_push(&b->arena, &b->docs) = doc;
	ret->job = job;
	if (!decode_job(job, yyjson_doc_get_root(*doc), arena_str(&b->arena, kind), &b->arena, e))
		return false;
	job->doc = doc;
	if (left_out.n)
		job->problem = arena_printf(&b->arena, "%.*s: nested more than %d levels deep", STR_F(left_out),
		                            JSON_MAX_DEPTH);
	return true;
}

bool inbox_object(struct inbox_batch *b, struct object *ret, enum resource resource, struct str kind, yyjson_val *val,
                  struct err *e)
{
	struct node *node;

	*ret = (struct object){ .resource = resource };
	if (resource == RES_JOB)
		return yyjson_is_obj(val) ? keep_job(b, ret, kind, val, e)
		                          : err_set(e, ERR_INVALID, "the answer is not an object");
	if (resource == RES_NODE) {
		ret->node = node = arena_new(&b->arena, struct node);
		return decode_node(node, val, &b->arena, e);
	}
	ret->child = decode_child(resource, val, &b->arena, e);
	return ret->child != NULL;
}

void inbox_outcome(struct inbox *in, const struct request *r, const struct outcome *answer, struct str body)
{
	struct inbox_batch *b = inbox_begin(in);
	struct cluster_event *ev = inbox_push(in, b);
	struct outcome *o = &ev->outcome;
	/* As a watch reads it, however deep it is. */
	yyjson_doc *doc CLEANUP(json_docp) = body.n ? yyjson_read(body.p, body.n, 0) : NULL;
	struct err e = ERR_INIT;

	ev->type = EVENT_OUTCOME;
	ev->resource = r->resource;
	*o = *answer;
	o->id = r->id;
	if (!http_is_good(o->code)) {
		decode_status(o, yyjson_doc_get_root(doc));
	} else if (r->verb != VERB_DELETE &&
	           !inbox_object(b, &o->object, r->resource, r->kind, yyjson_doc_get_root(doc), &e)) {
		/* The server did what we asked and says so in words we do not understand. */
		o->code = 0;
		o->message = str_c(err_msg(&e));
	}
	o->reason = arena_str(&b->arena, o->reason);
	o->message = arena_str(&b->arena, o->message);
	err_release(&e);
	inbox_end(in, b);
}

bool inbox_next(struct inbox *in, struct cluster_event *ret)
{
	if (in->out) {
		item_free(in->out);
		in->out = NULL;
	}
	if (!in->first)
		return false;
	in->out = in->first;
	in->first = in->out->next;
	if (!in->first)
		in->last = NULL;
	in->n--;
	*ret = in->out->event;
	return true;
}
