/* The fields of a kind's spec, declared once, as data: from them come the reading of manifests with
   defaults and other spellings, the messages about what is wrong, and the CRD's OpenAPI schema. */
#ifndef KIND_SCHEMA_H
#define KIND_SCHEMA_H

#include "kind/value.h"

enum schema_type {
	SCHEMA_OBJECT,
	SCHEMA_ARRAY,
	SCHEMA_MAP,
	SCHEMA_STRING,
	SCHEMA_INT,
	SCHEMA_BOOL,
	SCHEMA_ENUM,
	SCHEMA_TEMPLATE,
	SCHEMA_ANY,
	SCHEMA_TYPES
};

enum { SCHEMA_MAX_DEPTH = 16 };

struct schema {
	struct str name; /* of a field; empty for a list's or map's elements */
	enum schema_type type;
	struct str description;
	bool required;
	bool nocase;            /* ENUM: case does not matter */
	bool numbers;           /* STRING: a number is taken as its text */
	const struct str *also; /* other spellings */
	size_t n_also;
	bool has_default, has_min, has_max;
	struct str default_text;
	int64_t default_int;      /* BOOL: 0 or 1 */
	int64_t min, max;         /* INT: the value; STRING: length; ARRAY, MAP: how many */
	const struct str *values; /* ENUM */
	size_t n_values;
	const struct schema *fields; /* OBJECT, sorted by name */
	size_t n_fields;
	const struct schema *items; /* ARRAY, MAP */
};

/* Reads the declaration at the top of the stack (it stays). PATH is for messages: spec.replicas. */
bool schema_load(struct schema *ret, struct sandbox *sb, struct arena *a, struct str path, struct err *e);

/* The field of the object S that KEY spells, or NULL. */
const struct schema *schema_field(const struct schema *s, struct str key);

/* One reading of one manifest. */
struct schema_read {
	struct sandbox *sb;
	struct arena *a;
	struct problems *p;
	yyjson_val *object; /* the manifest */
	bool broken;        /* something is of the wrong type or missing; Lua gets something else in its place */
	struct str skipped; /* a field of the topmost object that others read: policy */
};

/* Pushes VAL (may be NULL) as a Lua value by its schema; always pushes exactly one value. */
void schema_push(struct schema_read *r, const struct schema *s, yyjson_val *val, struct str path);

/* Is there an error at PATH already? One mistake is reported once. */
bool schema_has_error(const struct problems *p, struct str path);

/* The OpenAPI schema, made in DOC. */
yyjson_mut_val *schema_openapi(const struct schema *s, yyjson_mut_doc *doc);

#endif
