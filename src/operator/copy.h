/* Copies of what a cluster reports, each in one block that free() takes. */
#ifndef OPERATOR_COPY_H
#define OPERATOR_COPY_H

#include "cluster/cluster.h"

#include <yyjson.h>

/* FROM: what a struct pod, struct service … begins with, as R says; so is the result. */
struct child *copy_child(enum resource r, const struct child *from);
/* The strings of *TO are those of FROM, copied; *BLOCK is what free() takes. */
void copy_meta(struct meta *to, const struct meta *from, char **block);
/* A document with VAL, an object of the API, as its root; without its managedFields, which nobody here reads. */
yyjson_doc *copy_json(yyjson_val *val);
/* The same as text; free() takes its bytes. */
struct str copy_text(yyjson_val *val);

#endif
