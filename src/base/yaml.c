#include "base/yaml.h"
#include "base/yaml_node.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

struct yaml_file {
	struct arena tree;
	yaml_roots roots; /* for positions; empty where the text was read as JSON */
	yyjson_doc **docs;
	size_t n;
};

static yyjson_mut_val *json_of(yyjson_mut_doc *doc, const struct yaml_node *node);

static yyjson_mut_val *json_of_scalar(yyjson_mut_doc *doc, const struct yaml_node *node)
{
	const struct yaml_scalar *s = &node->value;

	switch (s->type) {
	case YAML_NULL:
		return yyjson_mut_null(doc);
	case YAML_BOOL:
		return yyjson_mut_bool(doc, s->truth);
	case YAML_INT:
		return yyjson_mut_sint(doc, s->number);
	case YAML_UINT:
		return yyjson_mut_uint(doc, s->large);
	case YAML_FLOAT:
		/* On its way through JSON kubectl's 1e3 becomes 1000. Past 2^53 its digits are not exact. */
		if (fabs(s->real) < 0x1p53 && s->real == trunc(s->real))
			return yyjson_mut_sint(doc, (int64_t)s->real);
		return yyjson_mut_real(doc, s->real);
	case YAML_STRING:
		return yyjson_mut_strn(doc, node->text.p, node->text.n);
	}
	BUG("scalar of type %d", (int)s->type);
}

/* Recursive: the composer has limited the depth, with aliases expanded. */
static yyjson_mut_val *json_of(yyjson_mut_doc *doc, const struct yaml_node *node)
{
	yyjson_mut_val *val;

	if (node->kind == YAML_SCALAR)
		return json_of_scalar(doc, node);
	val = node->kind == YAML_MAP ? yyjson_mut_obj(doc) : yyjson_mut_arr(doc);
	for (const struct yaml_item *it = node->first; it; it = it->next) {
		if (node->kind == YAML_MAP)
			yyjson_mut_obj_add(val, yyjson_mut_strn(doc, it->key.p, it->key.n), json_of(doc, it->node));
		else
			yyjson_mut_arr_append(val, json_of(doc, it->node));
	}
	return val;
}

static yyjson_doc *doc_of(const struct yaml_node *root)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *mut = yyjson_mut_doc_new(NULL);
	yyjson_doc *doc;

	ASSERT(mut);
	yyjson_mut_doc_set_root(mut, json_of(mut, root));
	doc = yyjson_mut_doc_imut_copy(mut, NULL);
	ASSERT(doc);
	return doc;
}

static struct yaml_file *from_yaml(struct str file, struct str text, struct err *e)
{
	struct yaml_file *y = xcalloc(1, sizeof(*y));
	struct arena texts = ARENA_INIT;

	if (!yaml_compose(file, text, &y->tree, &texts, &y->roots, e)) {
		arena_release(&texts);
		yaml_close(y);
		return NULL;
	}
	y->docs = xcalloc(y->roots.n, sizeof(yyjson_doc *));
	for (; y->n < y->roots.n; y->n++)
		y->docs[y->n] = doc_of(y->roots.v[y->n].node);
	arena_release(&texts);
	return y;
}

/* JSON is almost YAML: pairs of \u escapes, raw U+2028 and long keys are not. What is JSON is read
   as JSON, as kubectl does; the YAML reader then only adds the positions. */
static struct yaml_file *prefer_json(struct yaml_file *y, struct str text, struct err *e)
{
	yyjson_doc *doc = str_has_prefix(str_trim(text), STR("{")) ? json_parse(text, NULL) : NULL;

	if (doc && yyjson_doc_get_val_count(doc) > YAML_MAX_NODES)
		json_docp(&doc);
	if (!doc)
		return y;
	if (y && y->n == 1 && json_eq(yaml_root(y, 0), yyjson_doc_get_root(doc))) {
		yyjson_doc_free(doc);
		return y;
	}
	yaml_close(y);
	if (e)
		err_release(e);
	y = xcalloc(1, sizeof(*y));
	y->docs = xcalloc(1, sizeof(yyjson_doc *));
	y->docs[y->n++] = doc;
	return y;
}

struct yaml_file *yaml_parse(struct str file, struct str text, struct err *e)
{
	if (text.n > YAML_MAX_BYTES) {
		err_set(e, ERR_LIMIT, "%.*s: larger than %d MiB", STR_F(file), YAML_MAX_BYTES >> 20);
		return NULL;
	}
	return prefer_json(from_yaml(file, text, e), text, e);
}

/* Reads until the end, or until it is certainly too much. */
static bool read_all(int fd, const char *name, struct buf *text, struct err *e)
{
	char part[65536];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > YAML_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "%s: larger than %d MiB", name, YAML_MAX_BYTES >> 20);
	for (;;) {
		n = read(fd, part, sizeof(part));
		if (n == 0)
			return true;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, ERR_IO, "%s: %s", name, strerror(errno));
		buf_put(text, (struct str){ part, (size_t)n });
		if (text->overflow)
			return err_set(e, ERR_LIMIT, "%s: larger than %d MiB", name, YAML_MAX_BYTES >> 20);
	}
}

struct yaml_file *yaml_read(const char *path, struct err *e)
{
	bool from_stdin = strcmp(path, "-") == 0;
	const char *name = from_stdin ? "stdin" : path;
	struct buf text = BUF_INIT(YAML_MAX_BYTES);
	struct yaml_file *y = NULL;
	int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		err_set(e, ERR_IO, "%s: %s", name, strerror(errno));
		return NULL;
	}
	if (read_all(fd, name, &text, e))
		y = yaml_parse(str_c(name), buf_str(&text), e);
	if (!from_stdin)
		close(fd);
	buf_release(&text);
	return y;
}

void yaml_close(struct yaml_file *y)
{
	if (!y)
		return;
	for (size_t i = 0; i < y->n; i++)
		yyjson_doc_free(y->docs[i]);
	free(y->docs);
	arena_release(&y->tree);
	free(y);
}

void yaml_closep(struct yaml_file **y)
{
	yaml_close(*y);
	*y = NULL;
}

size_t yaml_count(const struct yaml_file *y)
{
	return y->n;
}

yyjson_val *yaml_root(const struct yaml_file *y, size_t doc)
{
	return doc < y->n ? yyjson_doc_get_root(y->docs[doc]) : NULL;
}

struct str yaml_number(const struct yaml_file *y, size_t doc, struct str path)
{
	return doc < y->roots.n ? yaml_find_number(&y->roots.v[doc], path) : STR_NONE;
}

struct yaml_pos yaml_where(const struct yaml_file *y, size_t doc, struct str path)
{
	return doc < y->roots.n ? yaml_find(&y->roots.v[doc], path) : (struct yaml_pos){ 0, 0 };
}
