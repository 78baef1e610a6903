/*
 * YAML as kubectl reads it, into the same tree as JSON: several documents in a file, anchors, merge
 * keys, YAML 1.1 scalars (yes/no/on/off are booleans, 0644 is octal). Stricter: a duplicate key, an
 * unknown tag and binary data that is no text are errors. A map's own keys win over merged ones wherever
 * "<<" stands (kubectl lets the later one win). Size, depth and what aliases expand to are limited. One
 * door serves JSON as well.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/err.h"
#include "base/json.h"

enum {
	YAML_MAX_BYTES = 16 << 20,
	YAML_MAX_DEPTH = JSON_MAX_DEPTH,
	YAML_MAX_NODES = 1000000, /* of a file, after aliases are expanded */
};

struct yaml_file;

/* Reads TEXT; FILE is only for messages, "job.yaml:3:7: reason". NULL with *E. */
struct yaml_file *yaml_parse(struct str file, struct str text, struct err *e);
/* Reads a file, or standard input for "-". */
struct yaml_file *yaml_read(const char *path, struct err *e);
/* The name yaml_free belongs to libyaml, which would call ours. */
void yaml_close(struct yaml_file *y);
void yaml_closep(struct yaml_file **y);

/* Documents that hold nothing are left out. */
size_t yaml_count(const struct yaml_file *y);
yyjson_val *yaml_root(const struct yaml_file *y, size_t doc);

struct yaml_pos {
	size_t line, column; /* from 1; 0: not known */
};
/* Where PATH ("spec.replicaSpecs[0].replicas") stands in that document, or the nearest thing around
   it that does: the place of the key, in a list that of the item. Keys with dots or brackets are
   written as ["a.b/c"]. What came through an alias stands where its anchor is. */
struct yaml_pos yaml_where(const struct yaml_file *y, size_t doc, struct str path);

/* The number at PATH as it is written there: 3.10, 0777. Empty if there is none. */
struct str yaml_number(const struct yaml_file *y, size_t doc, struct str path);

/* The tree as YAML that every reader takes back as the same tree: block style, strings quoted where
   they could be taken for something else. Appended to OUT. */
void yaml_write(yyjson_val *val, struct buf *out);

#endif
