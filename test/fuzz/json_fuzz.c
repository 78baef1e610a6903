/* Any bytes: read or refused with a reason. What was read is written and read again as the same tree,
   and its difference to another tree, applied by the rules of the diff, is consistent with json_eq. */
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static bool keep_some(struct str path)
{
	return path.n % 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err e = ERR_INIT;
	struct str text = { (const char *)data, n };
	size_t half = n / 2;
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(text, &e);
	CLEANUP(json_docp) yyjson_doc *a = json_parse(str_sub(text, 0, half), NULL);
	CLEANUP(json_docp) yyjson_doc *b = json_parse(str_sub(text, half, n), NULL);
	CLEANUP(json_docp) yyjson_doc *back = NULL;
	struct buf out = BUF_INIT(1 << 26);

	ASSERT(!doc == (e.code != ERR_NONE));
	err_release(&e);
	if (doc) {
		json_write_val(yyjson_doc_get_root(doc), &out);
		back = json_parse(buf_str(&out), NULL);
		ASSERT(back && json_eq(yyjson_doc_get_root(doc), yyjson_doc_get_root(back)));
	}
	if (a && b) {
		CLEANUP(json_mut_docp) yyjson_mut_doc *mut = yyjson_mut_doc_new(NULL);
		yyjson_val *x = yyjson_doc_get_root(a), *y = yyjson_doc_get_root(b);

		ASSERT(!json_merge_diff(mut, x, x, NULL));
		if (json_merge_diff(mut, x, y, NULL))
			ASSERT(!json_eq(x, y));
		json_merge_diff(mut, y, x, keep_some);
	}
	buf_release(&out);
	return 0;
}
