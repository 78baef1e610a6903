/*
 * What Kubernetes calls the fields of a pod and what they hold, so that `comand` and `value: 0.1` are told before a pod
 * is made of them. For people's commands and the local API; the operator itself reads as it always has. The table is
 * made from Kubernetes' OpenAPI by scripts/pod-fields.py.
 */
#ifndef KIND_POD_FIELDS_H
#define KIND_POD_FIELDS_H

#include "base/json.h"
#include "job/problems.h"

/* What is done about a field that is not in the table: a newer Kubernetes may have it. What is in it and of a wrong
   type is an error always. */
enum unknown_fields { UNKNOWN_STRICT, UNKNOWN_WARN, UNKNOWN_IGNORE };
/* "Strict", "Warn", "Ignore" in any case; false for anything else. */
bool unknown_fields_parse(struct str text, enum unknown_fields *ret);

struct pod_fields_check {
	struct problems *problems;
	enum unknown_fields unknown;
	bool patch; /* it is a patch: what begins with $ is no field but a directive */
};

/* The metadata and the spec of VAL, a pod or a pod template that stands at PATH. */
void pod_fields_check(const struct pod_fields_check *c, yyjson_val *val, struct str path);
/* Metadata alone, of any object. */
void pod_fields_check_metadata(const struct pod_fields_check *c, yyjson_val *val, struct str path);

#endif
