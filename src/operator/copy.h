/* Copies of what a cluster reports, each in one block that free() takes. */
#ifndef OPERATOR_COPY_H
#define OPERATOR_COPY_H

#include "cluster/cluster.h"

#include <yyjson.h>

/* FROM: what a struct pod, struct service … begins with, as R says; so is the result. */
struct child *copy_child(enum resource r, const struct child *from);
/* The strings of *TO are those of FROM, copied; *BLOCK is what free() takes. */
void copy_meta(struct meta *to, const struct meta *from, char **block);
/* The job's document, taken if it can be had. JOB stays valid as long as that is. */
yyjson_doc *copy_tree(const struct job_object *job);
/* VAL as text; free() takes its bytes. */
struct str copy_text(yyjson_val *val);

#endif
