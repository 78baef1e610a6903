/* libyaml's events become a tree of nodes; every limit is checked here, before anything is copied. */
#include "base/map.h"
#include "base/yaml_fault.h"
#include "base/yaml_node.h"

#include <math.h>
#include <yaml.h>

enum {
	MAX_ANCHORS = 10000,
	/* Of all text after aliases are expanded. A file of the largest size fits whatever escapes it uses. */
	MAX_TEXT = 2 * YAML_MAX_BYTES,
};

/* A list or map whose end has not come yet. */
struct frame {
	struct yaml_node *node;
	struct yaml_item **end;    /* where the next item is hung */
	struct yaml_item *merges;  /* what "<<" named, the latest first: it wins */
	struct yaml_item *pending; /* a key that waits for its value */
	bool merging;              /* … and that key is "<<" */
	size_t nodes, bytes;       /* the counts when it began */
};

struct composer {
	struct str file;
	struct arena *tree, *texts;
	yaml_roots *roots;
	struct err *e;
	struct frame stack[YAML_MAX_DEPTH];
	size_t depth;
	size_t nodes, bytes; /* of the file so far, aliases expanded */
	struct map anchors;  /* of this document: name → node */
	struct yaml_item root;
	struct buf scratch;
	yaml_event_t event;
};

static struct yaml_pos here(const struct composer *c)
{
	return (struct yaml_pos){ c->event.start_mark.line + 1, c->event.start_mark.column + 1 };
}

#define fault(c, code, ...) yaml_fault((c)->e, (c)->file, here(c), (code), __VA_ARGS__)

static bool spend(struct composer *c, size_t nodes, size_t bytes)
{
	c->nodes += nodes;
	c->bytes += bytes;
	if (c->nodes > YAML_MAX_NODES)
		return fault(c, ERR_LIMIT, "more than %d values, with what aliases expand to", YAML_MAX_NODES);
	if (c->bytes > MAX_TEXT)
		return fault(c, ERR_LIMIT, "more than %d MiB of text, with what aliases expand to", MAX_TEXT >> 20);
	return true;
}

static struct yaml_item *new_item(struct composer *c, struct yaml_node *node, struct str key)
{
	struct yaml_item *it = arena_new(c->tree, struct yaml_item);
	struct yaml_pos at = here(c);

	*it = (struct yaml_item){ NULL, node, key, (uint32_t)at.line, (uint32_t)at.column };
	return it;
}

/* Is the scalar of this event the merge key, "<<" without quotes? */
static bool is_merge(const struct composer *c)
{
	return c->event.type == YAML_SCALAR_EVENT && c->event.data.scalar.plain_implicit &&
	       str_eq((struct str){ (char *)c->event.data.scalar.value, c->event.data.scalar.length }, STR("<<"));
}

static bool place_key(struct composer *c, struct frame *f, struct yaml_node *node)
{
	const char *why;

	if (node->kind != YAML_SCALAR)
		return fault(c, ERR_INVALID, "a %s cannot be a key", node->kind == YAML_MAP ? "map" : "list");
	buf_clear(&c->scratch);
	why = yaml_key(&node->value, node->text, &c->scratch);
	if (why)
		return fault(c, ERR_INVALID, "%s", why);
	f->pending = new_item(c, NULL, arena_str(c->tree, buf_str(&c->scratch)));
	f->merging = is_merge(c);
	return true;
}

static bool is_json(const struct yaml_node *node)
{
	return node->kind != YAML_SCALAR || node->value.type != YAML_FLOAT || isfinite(node->value.real);
}

/* Hangs NODE where the stream stands: as the root, the next item of a list, a key, or a key's value. */
static bool place(struct composer *c, struct yaml_node *node)
{
	struct frame *f = c->depth ? &c->stack[c->depth - 1] : NULL;
	struct yaml_item *it;

	if (f && f->node->kind == YAML_MAP && !f->pending)
		return place_key(c, f, node);
	if (!is_json(node))
		return fault(c, ERR_INVALID, "JSON has no infinity and no NaN");
	if (!f) {
		c->root = *new_item(c, node, STR_NONE);
		return true;
	}
	it = f->node->kind == YAML_MAP ? f->pending : new_item(c, node, STR_NONE);
	it->node = node;
	f->pending = NULL;
	if (f->merging) {
		f->merging = false;
		if (c->event.type == YAML_ALIAS_EVENT && node->kind != YAML_MAP)
			return fault(c, ERR_INVALID, "\"<<\" merges a map, and *%s is not a map",
			             (char *)c->event.data.alias.anchor);
		it->next = f->merges;
		f->merges = it;
		return true;
	}
	*f->end = it;
	f->end = &it->next;
	f->node->n++;
	return true;
}

static bool name_anchor(struct composer *c, const yaml_char_t *anchor, struct yaml_node *node)
{
	if (!anchor)
		return true;
	if (c->anchors.n >= MAX_ANCHORS)
		return fault(c, ERR_LIMIT, "more than %d anchors", MAX_ANCHORS);
	map_put(&c->anchors, arena_str(c->tree, str_c((const char *)anchor)), node);
	return true;
}

static bool on_scalar(struct composer *c)
{
	struct yaml_node *node = arena_new(c->tree, struct yaml_node);
	struct str text = { (char *)c->event.data.scalar.value, c->event.data.scalar.length };
	struct str tag = str_c((const char *)c->event.data.scalar.tag);
	const char *why = NULL;

	node->kind = YAML_SCALAR;
	node->value.type = YAML_STRING;
	if (tag.p) {
		buf_clear(&c->scratch);
		why = yaml_tagged(tag, text, &node->value, &c->scratch);
		if (str_has_suffix(tag, STR(":binary")))
			text = buf_str(&c->scratch);
	} else if (c->event.data.scalar.plain_implicit) {
		node->value = yaml_plain(text);
	}
	if (why)
		return fault(c, ERR_INVALID, "%s", why);
	if (node->value.type == YAML_STRING)
		node->text = arena_str(c->texts, text);
	else if (node->value.type != YAML_NULL && node->value.type != YAML_BOOL)
		node->text = arena_str(c->tree, text);
	node->nodes = 1;
	node->bytes = (uint32_t)text.n;
	return spend(c, 1, text.n) && name_anchor(c, c->event.data.scalar.anchor, node) && place(c, node);
}

static bool on_alias(struct composer *c)
{
	const char *name = (const char *)c->event.data.alias.anchor;
	struct yaml_node *node = map_get(&c->anchors, str_c(name));

	if (!node)
		return fault(c, ERR_INVALID, "there is no anchor &%s before this alias", name);
	if (node->open)
		return fault(c, ERR_INVALID, "anchor &%s contains itself", name);
	if (c->depth + node->height > YAML_MAX_DEPTH)
		return fault(c, ERR_LIMIT, "nested more than %d deep, with what aliases expand to", YAML_MAX_DEPTH);
	if (!spend(c, node->nodes, node->bytes) || !place(c, node))
		return false;
	if (c->depth)
		c->stack[c->depth - 1].node->height =
			MAX(c->stack[c->depth - 1].node->height, (uint16_t)(node->height + 1));
	return true;
}

static bool on_start(struct composer *c, enum yaml_kind kind, const yaml_char_t *anchor, const yaml_char_t *tag)
{
	const char *own = kind == YAML_MAP ? YAML_MAP_TAG : YAML_SEQ_TAG;
	struct yaml_node *node = arena_new(c->tree, struct yaml_node);
	struct frame f = { .node = node, .end = &node->first, .nodes = c->nodes, .bytes = c->bytes };

	if (tag && !str_eqc(str_c((const char *)tag), own) && !str_eqc(str_c((const char *)tag), "!"))
		return fault(c, ERR_INVALID, "this tag is not for a %s", kind == YAML_MAP ? "map" : "list");
	if (c->depth == YAML_MAX_DEPTH)
		return fault(c, ERR_LIMIT, "nested more than %d deep", YAML_MAX_DEPTH);
	node->kind = kind;
	node->open = true;
	node->height = 1;
	if (!spend(c, 1, 0) || !name_anchor(c, anchor, node) || !place(c, node))
		return false;
	c->stack[c->depth++] = f;
	return true;
}

static bool on_end(struct composer *c)
{
	struct frame f = c->stack[--c->depth];
	const struct yaml_item *bad = NULL;
	const char *reason = "";

	if (f.node->kind == YAML_MAP)
		bad = yaml_settle_map(f.node, f.merges, c->tree, &reason);
	if (bad)
		return yaml_fault(c->e, c->file, (struct yaml_pos){ bad->line, bad->column }, ERR_INVALID, "%s",
		                  reason);
	f.node->open = false;
	f.node->nodes = (uint32_t)(c->nodes - f.nodes);
	f.node->bytes = (uint32_t)(c->bytes - f.bytes);
	if (c->depth) {
		struct yaml_node *outer = c->stack[c->depth - 1].node;

		outer->height = MAX(outer->height, (uint16_t)(f.node->height + 1));
	}
	return true;
}

static void on_document_end(struct composer *c)
{
	if (c->root.node->kind != YAML_SCALAR || c->root.node->value.type != YAML_NULL)
		*vec_push(c->tree, c->roots) = c->root;
	map_release(&c->anchors);
}

static bool on_event(struct composer *c)
{
	switch (c->event.type) {
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_START_EVENT:
		return true;
	case YAML_DOCUMENT_END_EVENT:
		on_document_end(c);
		return true;
	case YAML_ALIAS_EVENT:
		return on_alias(c);
	case YAML_SCALAR_EVENT:
		return on_scalar(c);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(c, YAML_LIST, c->event.data.sequence_start.anchor, c->event.data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return on_start(c, YAML_MAP, c->event.data.mapping_start.anchor, c->event.data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_end(c);
	}
	BUG("libyaml event %d", (int)c->event.type);
}

bool yaml_compose(struct str file, struct str text, struct arena *tree, struct arena *texts, yaml_roots *roots,
                  struct err *e)
{
	struct composer *c = xcalloc(1, sizeof(*c));
	yaml_parser_t parser;
	bool ok = true, done = false;

	*c = (struct composer){
		.file = file, .tree = tree, .texts = texts, .roots = roots, .e = e, .scratch = BUF_INIT(YAML_MAX_BYTES)
	};
	if (!yaml_parser_initialize(&parser))
		BUG("libyaml does not start");
	yaml_parser_set_input_string(&parser, (const unsigned char *)str_text(text), text.n);
	while (ok && !done) {
		ok = yaml_parser_parse(&parser, &c->event);
		if (!ok) {
			yaml_fault_of_parser(e, file, text, &parser);
			break;
		}
		done = c->event.type == YAML_STREAM_END_EVENT;
		ok = on_event(c);
		yaml_event_delete(&c->event);
	}
	yaml_parser_delete(&parser);
	map_release(&c->anchors);
	buf_release(&c->scratch);
	free(c);
	return ok;
}
