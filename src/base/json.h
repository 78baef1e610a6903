/* yyjson with our slices, arenas and limits. After the door there is one data model: a JSON tree,
   wherever it came from. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <yyjson.h>

enum { JSON_MAX_DEPTH = 200 };

/* Strict JSON, at most JSON_MAX_DEPTH deep, duplicate keys refused. Free the result with
   yyjson_doc_free. NULL with *E (line and column of the fault in the message). */
yyjson_doc *json_parse(struct str text, struct err *e);
void json_docp(yyjson_doc **doc);         /* for CLEANUP */
void json_mut_docp(yyjson_mut_doc **doc); /* for CLEANUP */

/* NULL-tolerant: OBJ may be NULL or no object; the answer is then NULL. */
yyjson_val *json_get(yyjson_val *obj, const char *key);
yyjson_val *json_get_str(yyjson_val *obj, struct str key);
/* json_at(obj, "metadata", "labels", NULL) */
yyjson_val *json_at(yyjson_val *obj, ...) __attribute__((sentinel));
/* The text of a string value; empty for NULL and for anything else. */
struct str json_str(yyjson_val *val);
struct str json_mut_text(yyjson_mut_val *val);
/* A whole number within int64 (1.0 is one); false for anything else. */
bool json_int(yyjson_val *val, int64_t *ret);
/* "an object", "a list", "a string", "a number" …, for messages. */
const char *json_type_name(yyjson_val *val);
/* ": quote it", the end of a message where a string is wanted and VAL is what YAML makes of one without quotes, a
   number or a boolean; otherwise empty. Which digits a number had is not known here: see yaml_number(). In A. */
#define JSON_QUOTE_IT ": quote it"
struct str json_quote_it(yyjson_val *val, struct arena *a);
/* Deep equality; the order of keys does not matter, numbers are compared by value (1 is 1.0). */
bool json_eq(yyjson_val *a, yyjson_val *b);

/* Copies; bytes that are no UTF-8 become U+FFFD, so that every tree can be written. */
yyjson_mut_val *json_mut_str(yyjson_mut_doc *doc, struct str s);
/* obj[key] = val, the key copied. */
void json_mut_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, struct str key, yyjson_mut_val *val);
/* Compact JSON appended to OUT; infinity and "not a number" become null. */
void json_write(yyjson_mut_val *val, struct buf *out);
void json_write_val(yyjson_val *val, struct buf *out);

/*
 * The JSON merge patch (RFC 7386) that makes AFTER of BEFORE, or NULL if there is nothing to do.
 * What BEFORE has and AFTER lacks is removed, except directly inside objects for which KEEP returns
 * true (its argument is the path of keys from the root, "dlOperator", "dlOperator.roles.worker" …):
 * there unknown fields stay, and only what AFTER names with null goes. Elsewhere null inside an object
 * is the same as absent: a merge patch cannot say otherwise. The patch copies what it holds.
 */
yyjson_mut_val *json_merge_diff(yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *after,
                                bool (*keep)(struct str path));

#endif
