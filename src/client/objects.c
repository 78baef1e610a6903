#include "client/objects.h"

#include "base/yaml.h"
#include "term/plain.h"

static bool put_yaml(struct object_list *o, const struct buf *text, struct err *e)
{
	/* Our own JSON: what json_parse() checks need not be checked. */
	CLEANUP(json_docp) yyjson_doc *doc = yyjson_read(text->p, text->n, 0);

	ASSERT(doc);
	o->text.max = OBJECT_MAX;
	buf_clear(&o->text);
	yaml_write(yyjson_doc_get_root(doc), &o->text);
	if (o->text.overflow)
		return err_set(e, ERR_LIMIT, "an object has more than %d bytes", OBJECT_MAX);
	if (o->n)
		fputs("---\n", stdout);
	fwrite(o->text.p, 1, o->text.n, stdout);
	return true;
}

bool objects_put(struct object_list *o, const struct buf *text, struct err *e)
{
	if (text->overflow)
		return err_set(e, ERR_LIMIT, "an object has more than %zu bytes", text->max);
	switch (o->format) {
	case FORMAT_YAML:
		if (!put_yaml(o, text, e))
			return false;
		break;
	case FORMAT_JSON:
		fputs(o->n ? ",\n" : "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n", stdout);
		plain_put_json(buf_str(text), stdout);
		break;
	}
	o->n++;
	cli_output_broken();
	return true;
}

void objects_end(struct object_list *o, bool whole)
{
	if (whole && o->format == FORMAT_JSON)
		fputs(o->n ? "\n]}\n" : "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}\n", stdout);
	buf_release(&o->text);
}
