/* The objects of a file: documents, and the items of Lists among them. */
#ifndef CLIENT_MANIFEST_H
#define CLIENT_MANIFEST_H

#include "base/yaml.h"
#include "kind/kind.h"

enum object_class {
	OBJECT_JOB,     /* of a kind that is known */
	OBJECT_FOREIGN, /* none of our business */
	OBJECT_WRONG,   /* no object at all, or of a group of ours but not of a known kind */
};

struct manifest {
	struct yaml_file *yaml;
	const struct kinds *kinds;
	struct arena *arena; /* for messages and paths */
	size_t doc, item;
	size_t jobs;           /* that manifest_next() has given */
	struct str other;      /* "ConfigMap of v1": the first that is no job, or the first that is called one */
	struct str other_kind; /* its kind */
	bool other_is_job;     /* it is called a job */
};

struct manifest_object {
	enum object_class class;
	yyjson_val *root;
	const struct kind *kind; /* OBJECT_JOB */
	size_t doc;
	struct str prefix;  /* its path in the document: "items[2]", or empty */
	struct str field;   /* OBJECT_WRONG: what is wrong, and where */
	struct str message; /* OBJECT_WRONG and OBJECT_FOREIGN */
};

/* The next object; false at the end. */
bool manifest_next(struct manifest *m, struct manifest_object *ret);
/* Of a manifest without a job, at its end: what is in it, and what is near that or known. */
struct str manifest_without_job(const struct manifest *m);
/* PATH of the object as a path of the document. */
struct str manifest_path(struct arena *a, const struct manifest_object *o, struct str path);

#endif
