/* Lines of calls on one store: the first letter is the verb, the second the type, the rest the body (or selectors).
   Or an object, on which every verb is tried. Whatever they say: an answer in JSON, never a fault of ours, and what is
   stored can be listed. */
#include "retype.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static msec now(void *cookie)
{
	(void)cookie;
	return SECONDS(1800000000);
}

static void call(struct store *s, const struct store_request *r)
{
	struct store_answer a;
	yyjson_doc *doc;

	store_call(s, r, &a);
	doc = json_parse(buf_str(&a.body), NULL);
	ASSERT(doc && a.code >= 200 && a.code < 500);
	yyjson_doc_free(doc);
	store_answer_release(&a);
}

static const struct store_type *type_for(struct store *s, char letter)
{
	size_t n = 0;

	while (store_type_at(s, n))
		n++;
	return store_type_at(s, (unsigned char)(letter - 'a') % n);
}

/* me{"metadata":…}: a merge patch of the pod "a". */
static void one_line(struct store *s, struct str line)
{
	struct str rest = str_sub(line, 2, line.n);
	struct store_request r = { .ns = STR("default"), .name = STR("a"), .body = rest };

	if (line.n < 2)
		return;
	r.type = type_for(s, line.p[1]);
	switch (line.p[0]) {
	case 'c':
		r.verb = STORE_CREATE;
		break;
	case 'u':
		r.verb = STORE_UPDATE;
		break;
	case 'm':
	case 'j':
	case 's':
		r.verb = STORE_PATCH;
		r.patch = line.p[0] == 'm'   ? STORE_PATCH_MERGE
		          : line.p[0] == 'j' ? STORE_PATCH_JSON
		                             : STORE_PATCH_STRATEGIC;
		break;
	case 'd':
		r.verb = STORE_DELETE;
		break;
	case 'l':
		r.verb = STORE_LIST;
		r.label_selector = rest;
		break;
	case 'f':
		r.verb = STORE_LIST;
		r.field_selector = rest;
		break;
	case 't':
		r.verb = STORE_LIST;
		r.limit = 1;
		r.continue_token = rest;
		break;
	default:
		store_step(s);
		return;
	}
	call(s, &r);
}

/* The real one is made first, so that each call has something to change; then that which was made of it. */
static void one_object(struct store *s, struct str text, yyjson_val *root)
{
	static const enum store_patch patches[] = { STORE_PATCH_MERGE, STORE_PATCH_STRATEGIC };
	const struct store_type *definitions =
		store_type(s, STR("apiextensions.k8s.io"), STR("v1"), STR("customresourcedefinitions"));
	struct store_request r = { .type = definitions, .verb = STORE_CREATE, .body = STR(JOB_DEFINITION) };
	struct str name = json_str(json_at(root, "metadata", "name", NULL));

	call(s, &r);
	r = (struct store_request){ .type = type_said(s, root), .verb = STORE_CREATE, .ns = STR("default") };
	r.name = name.n ? name : STR("a");
	r.body = STR("{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}");
	call(s, &r);
	r.body = text;
	call(s, &r);
	r.verb = STORE_UPDATE;
	call(s, &r);
	r.status = true;
	call(s, &r);
	r.status = false;
	r.verb = STORE_PATCH;
	for (size_t i = 0; i < ARRAY_LEN(patches); i++) {
		r.patch = patches[i];
		call(s, &r);
	}
	store_step(s);
	r.verb = STORE_DELETE;
	call(s, &r);
	r.body = STR("{\"gracePeriodSeconds\":0}");
	call(s, &r);
	store_step(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct clock clock = { now, NULL };
	struct store *s = store_open(&(struct store_config){ .clock = &clock, .seed = 1 }, NULL);
	struct str rest = { (const char *)data, n }, line;
	yyjson_doc *object = n && data[0] == '{' ? json_parse(rest, NULL) : NULL;
	const struct store_type *t;

	if (object)
		one_object(s, rest, yyjson_doc_get_root(object));
	yyjson_doc_free(object);
	while (str_next(&rest, '\n', &line))
		one_line(s, line);
	for (size_t i = 0; (t = store_type_at(s, i)); i++)
		call(s, &(struct store_request){ .verb = STORE_LIST, .type = t });
	store_close(s);
	return 0;
}
