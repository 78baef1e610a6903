/* What a cluster's administrator wants in pods that ask for an accelerator: for each resource name folders of the
   node, variables, and perhaps another name under which the cluster has it today. docs/accelerators.md. */
#ifndef KIND_ACCELERATORS_H
#define KIND_ACCELERATORS_H

#include "base/err.h"
#include "base/json.h"
#include "job/problems.h"
#include "object/needs.h"

struct accelerators;

/* Reads the YAML of --controller-config-file; FILE is only for messages. NULL, with one line that names the place. */
struct accelerators *accelerators_parse(struct str file, struct str text, struct err *e);
struct accelerators *accelerators_load(const char *path, struct err *e);
void accelerators_free(struct accelerators *a);
void accelerators_freep(struct accelerators **a); /* for CLEANUP */

/* How many resource names there are. */
size_t accelerators_count(const struct accelerators *a);
/* A key that was taken and has no meaning today, and why; false past the last. */
bool accelerators_idle(const struct accelerators *a, size_t i, const char **key, const char **why);

/* What of a template's SPEC cannot be done, put into P; PATH is where the spec stands. */
void accelerators_check(const struct accelerators *a, yyjson_val *spec, struct str path, struct problems *p);
/* A copy of SPEC with everything that its containers ask for; NULL if they ask for nothing. What the user has set
   stays, so that doing it again changes nothing. Free it with yyjson_doc_free. */
yyjson_doc *accelerators_apply(const struct accelerators *a, yyjson_val *spec);
/* N with the names under which the cluster has them. Where both names are there the larger amount is meant. */
struct needs accelerators_rename(const struct accelerators *a, const struct needs *n, struct arena *arena);

#endif
