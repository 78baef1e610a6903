/* What the store itself writes into metadata: UIDs, made-up names, times; and which names are allowed. */
#ifndef LOCAL_STORE_META_H
#define LOCAL_STORE_META_H

#include "local/store/state.h"

yyjson_mut_val *meta_of(yyjson_mut_doc *doc);
void meta_put_str(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, struct str v);
void meta_put_int(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, int64_t v);
/* The member, made if it is missing or no object. */
yyjson_mut_val *meta_put_obj(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key);
void meta_put_time(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, msec t);
struct str meta_new_uid(struct store *s);
struct str meta_generated_name(struct store *s, struct str base);
/* Why it is none; NULL: it is one. */
const char *name_problem(enum name_form form, struct str name);

#endif
