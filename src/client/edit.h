/* Changes to a manifest before it is used: --set PATH=VALUE, --env NAME=VALUE, a name, a namespace. */
#ifndef CLIENT_EDIT_H
#define CLIENT_EDIT_H

#include "base/json.h"
#include "term/opts.h"

struct job_edits {
	struct opt_list set; /* spec.replicaSpecs[0].replicas=3 */
	struct opt_list env; /* NAME=VALUE, or NAME: with the value that it has here */
	const char *name;    /* instead of metadata.name; NULL: as it is */
	const char *suffix;  /* behind the name, after a dash; NULL: none */
	const char *ns;      /* where metadata names none; NULL: as it is */
};

/* Is there anything to do? */
bool edits_any(const struct job_edits *e);
/* A copy of OBJECT with all of them done, name and suffix last. NULL, with *ERR that names the option. */
yyjson_doc *edits_apply(const struct job_edits *e, yyjson_val *object, struct err *err);
/* The last --set that wrote what stands at PATH, or what PATH is in; UNKNOWN: or something in PATH, a field that nobody
   knows. NULL: none did. */
const char *edits_blamed(const struct job_edits *e, struct str path, bool unknown);
void edits_release(struct job_edits *e);

/*
 * Sets one value in ROOT: ASSIGNMENT is "PATH=VALUE". PATH is written as in messages: keys with dots between them,
 * [0] for items of lists, ["a.b/c"] for keys with dots. VALUE is read as YAML; null, or nothing at all, removes what
 * stands there. Objects on the way that are not there are made; [n] just past the end of a list appends.
 * False, with *E naming the path, if it leads through something that is neither object nor list, or past a list's end.
 */
bool edit_set(yyjson_mut_doc *doc, yyjson_mut_val *root, struct str assignment, struct err *e);
/* Sets the variable in all containers (init containers too) of all pod templates under ROOT's spec; one of that name
   is replaced. False if there is no container at all, or NAME is none. */
bool edit_env(yyjson_mut_doc *doc, yyjson_mut_val *root, struct str name, struct str value, struct err *e);

#endif
