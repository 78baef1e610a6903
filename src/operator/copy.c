#include "operator/copy.h"

#include "base/json.h"

static size_t meta_size(const struct meta *m)
{
	return m->ns.n + m->name.n + m->uid.n + m->rv.n + m->owner_uid.n;
}

static struct str pack(char **at, struct str s)
{
	struct str out = { *at, s.n };

	if (s.n)
		memcpy(*at, s.p, s.n);
	*at += s.n;
	return out;
}

static void pack_meta(char **at, struct meta *m)
{
	m->ns = pack(at, m->ns);
	m->name = pack(at, m->name);
	m->uid = pack(at, m->uid);
	m->rv = pack(at, m->rv);
	m->owner_uid = pack(at, m->owner_uid);
	m->owner = STR_NONE;
}

void copy_meta(struct meta *to, const struct meta *from, char **block)
{
	char *at = *block = xmalloc(meta_size(from) + 1);

	*to = *from;
	pack_meta(&at, to);
}

static size_t child_size(const struct child *c)
{
	return meta_size(&c->meta) + c->job_uid.n + c->role.n;
}

static void pack_child(char **at, struct child *c)
{
	pack_meta(at, &c->meta);
	c->job_uid = pack(at, c->job_uid);
	c->role = pack(at, c->role);
}

static struct child *copy_pod(const struct child *from)
{
	const struct pod *pod = (const struct pod *)from;
	size_t text = child_size(&pod->child) + pod->node.n + pod->reason.n + pod->message.n + pod->address.n +
	              pod->disrupter.n;
	struct container *containers;
	struct pod *out;
	char *at;

	for (size_t i = 0; i < pod->n_containers; i++)
		text += pod->containers[i].name.n + pod->containers[i].reason.n + pod->containers[i].message.n;
	out = xmalloc(sizeof(*out) + pod->n_containers * sizeof(struct container) + text);
	containers = (struct container *)(out + 1);
	at = (char *)(containers + pod->n_containers);
	*out = *pod;
	pack_child(&at, &out->child);
	out->node = pack(&at, pod->node);
	out->reason = pack(&at, pod->reason);
	out->message = pack(&at, pod->message);
	out->address = pack(&at, pod->address);
	out->disrupter = pack(&at, pod->disrupter);
	for (size_t i = 0; i < pod->n_containers; i++) {
		containers[i] = pod->containers[i];
		containers[i].name = pack(&at, pod->containers[i].name);
		containers[i].reason = pack(&at, pod->containers[i].reason);
		containers[i].message = pack(&at, pod->containers[i].message);
	}
	out->containers = containers;
	return &out->child;
}

static struct child *copy_service(const struct child *from)
{
	const struct service *service = (const struct service *)from;
	struct service *out = xmalloc(sizeof(*out) + child_size(&service->child));
	char *at = (char *)(out + 1);

	*out = *service;
	pack_child(&at, &out->child);
	return &out->child;
}

static struct child *copy_group(const struct child *from)
{
	const struct group *group = (const struct group *)from;
	size_t text = child_size(&group->child) + group->queue.n + group->priority_class.n + group->phase.n +
	              group->message.n,
	       n = group->needs.n;
	struct group *out;
	struct need *needs;
	char *at;

	for (size_t i = 0; i < n; i++)
		text += group->needs.v[i].name.n;
	out = xmalloc(sizeof(*out) + n * sizeof(*needs) + text);
	needs = (struct need *)(out + 1);
	at = (char *)(needs + n);
	*out = *group;
	pack_child(&at, &out->child);
	out->queue = pack(&at, group->queue);
	out->priority_class = pack(&at, group->priority_class);
	out->phase = pack(&at, group->phase);
	out->message = pack(&at, group->message);
	for (size_t i = 0; i < n; i++)
		needs[i] = (struct need){ pack(&at, group->needs.v[i].name), group->needs.v[i].amount };
	out->needs = (struct needs){ needs, n, n };
	return &out->child;
}

struct child *copy_child(enum resource r, const struct child *from)
{
	static struct child *(*const copies[RES_COUNT])(const struct child *from) = {
		[RES_POD] = copy_pod,
		[RES_SERVICE] = copy_service,
		[RES_GROUP] = copy_group,
	};

	ASSERT(r < RES_COUNT && copies[r]);
	return copies[r](from);
}

yyjson_doc *copy_tree(const struct job_object *job)
{
	yyjson_mut_doc *m CLEANUP(json_mut_docp) = NULL;
	yyjson_doc *out = job->doc ? *job->doc : NULL;

	if (out) {
		*job->doc = NULL;
		return out;
	}
	m = yyjson_mut_doc_new(NULL);
	out = yyjson_mut_val_imut_copy(yyjson_val_mut_copy(m, job->root), NULL);
	ASSERT(out);
	return out;
}

struct str copy_text(yyjson_val *val)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	struct str out;

	json_write_val(val, &b);
	/* Exactly as long as it is: it may be kept for long. */
	out = str_dup(buf_str(&b));
	buf_release(&b);
	return out;
}
