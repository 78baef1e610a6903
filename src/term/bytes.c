#include "term/bytes.h"

#include "base/json.h"
#include "object/quantity.h"

bool bytes_parse(const char *text, uint64_t *ret)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_doc *copy;
	int64_t milli;
	bool ok;

	yyjson_mut_doc_set_root(doc, yyjson_mut_str(doc, text));
	copy = yyjson_mut_doc_imut_copy(doc, NULL);
	ok = quantity_read(yyjson_doc_get_root(copy), &milli);
	yyjson_doc_free(copy);
	if (ok)
		*ret = (uint64_t)(milli / 1000);
	return ok;
}
