/*
 * Golden cases: a manifest and, written by hand, everything that must come of it. A case is one YAML
 * file in kinds/golden/KIND/; README.md beside it says what may stand in it.
 *
 * The way is the operator's own: manifest → kind_read → plan_job → (pretend to apply) → kind_status,
 * through JSON as an API server would store it.
 */
#ifndef GOLDEN_GOLDEN_H
#define GOLDEN_GOLDEN_H

#include "base/yaml.h"
#include "kind/kind.h"
#include "object/object.h"

/* One case while it runs. */
struct golden {
	struct arena a;
	struct kinds *kinds;
	const char *root; /* the source tree, for manifestFile */
	struct str file;
	struct yaml_file *yaml;
	struct str of; /* " of same[1]", while another manifest than the first is looked at */
	size_t differences;
	struct buf out; /* what differs, for people */
};

/* Runs the case TEXT of FILE. OUT gets every difference with its place: nothing means that all is as it
   should be. A case that cannot be read, has unknown keys or expects nothing differs as well. */
size_t golden_run(const char *root, struct str file, struct str text, struct buf *out);

/* --- diff.c --- */

void differ(struct golden *g, struct str path, const char *fmt, ...) PRINTF_LIKE(3, 4);
struct str key_path(struct golden *g, struct str path, struct str key);
struct str item_path(struct golden *g, struct str path, size_t index);

enum compare {
	COMPARE_SUBSET, /* objects may have more than is wanted */
	COMPARE_EXACT,
	COMPARE_ORDERED, /* exact, and keys in this order */
};
/* A wanted null means: not there. Lists must be as long as wanted. */
void compare(struct golden *g, struct str path, yyjson_val *want, yyjson_val *got, enum compare how);
/* Is OBJ an object with no other keys than these? KNOWN ends with NULL. */
bool keys_known(struct golden *g, struct str path, yyjson_val *obj, const char *const *known);

/* --- children.c --- */

/* Are the children of KJ those of the lists PODS and SERVICES (either may be NULL: not looked at)? */
void expect_children(struct golden *g, struct kind_job *kj, yyjson_val *object, yyjson_val *pods, yyjson_val *services);

/* --- store.c: an object as an API server keeps it --- */

/* MANIFEST with what the server adds: uid, namespace, generation, creationTimestamp. */
yyjson_mut_doc *store_object(yyjson_val *manifest, struct str uid);
/* Sets what stands at PATH ("spec.replicaSpecs[1].replicas"); a null VALUE removes it. False if the way
   there does not exist. */
bool store_set(yyjson_mut_doc *object, struct str path, yyjson_val *value);
void store_annotate(yyjson_mut_doc *object, struct str key, yyjson_val *value);
void store_bump_generation(yyjson_mut_doc *object);

/* --- history.c --- */

/* Plays the steps of HISTORY on OBJECT, whose kind is KIND. OLD_STATUS: what an operator of before left, or NULL. */
void expect_history(struct golden *g, const struct kind *kind, yyjson_mut_doc *object, yyjson_val *old_status,
                    yyjson_val *history);

#endif
