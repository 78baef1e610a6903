/* Any bytes: read, or refused with file, line, column and reason. What was read is written as YAML and read
   again as the same tree; every path has a place. */
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_document(const struct yaml_file *y, size_t i)
{
	yyjson_val *root = yaml_root(y, i);
	CLEANUP(yaml_closep) struct yaml_file *back = NULL;
	struct buf out = BUF_INIT(1 << 26);

	yaml_write(root, &out);
	ASSERT(!out.overflow);
	back = yaml_parse(STR("written"), buf_str(&out), NULL);
	/* Indentation makes deep trees longer than what may be read. */
	if (out.n <= YAML_MAX_BYTES)
		ASSERT(back && yaml_count(back) == 1 && json_eq(yaml_root(back, 0), root));
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err e = ERR_INIT;
	struct str text = { (const char *)data, n };
	CLEANUP(yaml_closep) struct yaml_file *y = yaml_parse(STR("f"), text, &e);

	ASSERT(!y == (e.code != ERR_NONE));
	ASSERT(y || str_has_prefix(str_c(err_msg(&e)), STR("f:")));
	err_release(&e);
	for (size_t i = 0; y && i < yaml_count(y); i++) {
		check_document(y, i);
		yaml_where(y, i, text);
	}
	return 0;
}
