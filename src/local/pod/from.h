/* What the files share that make a struct pod_spec of a Kubernetes pod. */
#ifndef LOCAL_POD_FROM_H
#define LOCAL_POD_FROM_H

#include "local/pod/pod.h"

struct from {
	yyjson_val *pod;
	const struct pod_from_options *o;
	struct arena *a;
	struct pod_refusal *why;
	struct err *e;
	struct pod_spec *spec;
};

/* All of them return false, with WHY and E set: REASON as a waiting container has it. */
bool from_invalid(struct from *f, const char *fmt, ...) PRINTF_LIKE(2, 3); /* the pod is wrong */
bool from_missing(struct from *f, const char *fmt, ...) PRINTF_LIKE(2, 3); /* something may come */
/* Puts "field: " in front. */
bool from_at(struct from *f, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Shapes. Absent values leave *RET as it was. */
bool from_strs(struct from *f, pod_strs *ret, yyjson_val *v, const char *field);
bool from_int(struct from *f, int64_t *ret, yyjson_val *object, const char *field, int64_t least, int64_t most);
/* Seconds, as milliseconds. */
bool from_seconds(struct from *f, int64_t *ret, yyjson_val *object, const char *field, int64_t least);
bool from_quantity(struct from *f, int64_t *ret_milli, yyjson_val *object, const char *field);
/* Is it a path that stays inside of whatever it is put behind? */
bool from_is_inside(struct str path);
/* Where something is mounted: below /, without a blank part or "..". *RET is it as "/a/b"; false: no such path. */
bool from_point(struct from *f, struct str path, struct str *ret);

/* from_env.c. Sets or replaces. */
void from_env_set(struct arena *a, pod_envs *env, struct str name, struct str value);
bool from_env(struct from *f, struct pod_container *c, yyjson_val *container, pod_envs *ret);
bool from_env_lookup(void *env, struct str name, struct str *ret);

/* from_ref.c: what a pod can know of itself. */
bool from_field(struct from *f, struct str path, struct str *ret);
bool from_resource(struct from *f, yyjson_val *container, yyjson_val *ref, struct str *ret);
/* The object of a ConfigMap or Secret; *RET NULL: it is missing, which is allowed. */
enum from_source { FROM_CONFIG_MAP, FROM_SECRET };
bool from_object(struct from *f, enum from_source source, struct str name, bool optional, yyjson_val **ret);
/* The value of KEY; *RET_FOUND. Secrets are decoded. */
bool from_value(struct from *f, enum from_source source, yyjson_val *object, struct str key, bool *ret_found,
                struct str *ret);
/* The I-th key, in the order of the object; empty at the end. */
struct str from_key(enum from_source source, yyjson_val *object, size_t i);

/* from_volume.c */
bool from_volumes(struct from *f);
bool from_mounts(struct from *f, struct pod_container *c, yyjson_val *container, pod_envs *env);

/* from_user.c */
bool from_user(struct from *f, struct pod_container *c, yyjson_val *container);
/* What the pod's securityContext asks for in vain becomes one of the spec's notes. */
void from_say_without_effect(struct from *f);

/* from_probe.c: probes and hooks */
bool from_probes(struct from *f, struct pod_container *c, yyjson_val *container);

#endif
