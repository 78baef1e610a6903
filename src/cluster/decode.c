#include "cluster/decode.h"

#include "base/json.h"
#include "cluster/container_restarts.h"

enum { ADDRESS_MAX = sizeof("http://127.0.0.1:65535/") - 1 };

/* A field of a struct that is read as it stands. Where the type is wrong nothing is written. */
enum object_field_type { F_TEXT, F_CLIPPED, F_TIME, F_INT32, F_LABEL32, F_LABEL64 };
struct object_field {
	const char *key;
	enum object_field_type type;
	size_t offset;
};
#define FIELD(key, type, s, member)                                                                                    \
	{                                                                                                              \
		key, type, offsetof(struct s, member)                                                                  \
	}

static const struct object_field meta_fields[] = {
	FIELD("name", F_TEXT, meta, name),
	FIELD("namespace", F_TEXT, meta, ns),
	FIELD("uid", F_TEXT, meta, uid),
	FIELD("resourceVersion", F_TEXT, meta, rv),
	FIELD("creationTimestamp", F_TIME, meta, created),
	FIELD("deletionTimestamp", F_TIME, meta, deleted),
	FIELD("deletionGracePeriodSeconds", F_INT32, meta, grace),
};

static const struct object_field pod_labels[] = {
	FIELD(LABEL_UID, F_TEXT, pod, job_uid),
	FIELD(LABEL_ROLE, F_TEXT, pod, role),
	FIELD(LABEL_INDEX, F_LABEL32, pod, index),
	FIELD(LABEL_GENERATION, F_LABEL64, pod, generation),
};

static const struct object_field pod_spec_fields[] = {
	FIELD("nodeName", F_TEXT, pod, node),
	FIELD("terminationGracePeriodSeconds", F_INT32, pod, stop_grace),
};

static const struct object_field pod_status_fields[] = {
	FIELD("reason", F_CLIPPED, pod, reason),
	FIELD("message", F_CLIPPED, pod, message),
	FIELD("startTime", F_TIME, pod, started),
};

static const struct object_field disruption_fields[] = {
	FIELD("lastTransitionTime", F_TIME, pod, disrupted_at),
};

static const struct object_field service_labels[] = {
	FIELD(LABEL_UID, F_TEXT, service, job_uid),
	FIELD(LABEL_ROLE, F_TEXT, service, role),
	FIELD(LABEL_INDEX, F_LABEL32, service, index),
};

static const struct object_field group_labels[] = {
	FIELD(LABEL_UID, F_TEXT, group, job_uid),
};

static const struct object_field group_fields[] = {
	FIELD("minMember", F_INT32, group, min_member),
	FIELD("queue", F_TEXT, group, queue),
	FIELD("priorityClassName", F_TEXT, group, priority_class),
	FIELD("scheduleTimeoutSeconds", F_INT32, group, timeout),
};

static const struct object_field waiting_fields[] = {
	FIELD("reason", F_CLIPPED, container, reason),
	FIELD("message", F_CLIPPED, container, message),
};

static const struct object_field running_fields[] = {
	FIELD("startedAt", F_TIME, container, started),
};

static const struct object_field terminated_fields[] = {
	FIELD("startedAt", F_TIME, container, started),   FIELD("reason", F_CLIPPED, container, reason),
	FIELD("message", F_CLIPPED, container, message),  FIELD("exitCode", F_INT32, container, exit_code),
	FIELD("finishedAt", F_TIME, container, finished),
};

/* Not in the middle of a character. */
static struct str clip(struct str s)
{
	size_t n = MIN(s.n, (size_t)DECODE_TEXT_MAX);

	while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return str_sub(s, 0, n);
}

static struct str keep_text(struct str s, struct arena *a)
{
	return str_empty(s) ? STR_NONE : arena_str(a, s);
}

static void read_field(void *to, enum object_field_type type, yyjson_val *val, struct arena *a)
{
	int64_t n;

	switch (type) {
	case F_TEXT:
		*(struct str *)to = keep_text(json_str(val), a);
		return;
	case F_CLIPPED:
		*(struct str *)to = keep_text(clip(json_str(val)), a);
		return;
	case F_TIME:
		if (time_parse(json_str(val), &n))
			*(msec *)to = n;
		return;
	case F_INT32:
		if (json_int(val, &n) && n >= INT32_MIN && n <= INT32_MAX)
			*(int32_t *)to = (int32_t)n;
		return;
	case F_LABEL32:
		if (str_int(json_str(val), &n) && n >= 0 && n <= INT32_MAX)
			*(int32_t *)to = (int32_t)n;
		return;
	case F_LABEL64:
		if (str_int(json_str(val), &n) && n >= 0)
			*(int64_t *)to = n;
		return;
	}
}

static void read_fields(void *to, const struct object_field *f, size_t n, yyjson_val *obj, struct arena *a)
{
	for (size_t i = 0; i < n; i++) {
		yyjson_val *val = json_get(obj, f[i].key);

		if (val)
			read_field((char *)to + f[i].offset, f[i].type, val, a);
	}
}
#define READ(to, fields, obj, a) read_fields((to), (fields), ARRAY_LEN(fields), (obj), (a))

static struct str kind_and_name(yyjson_val *owner, struct arena *a)
{
	struct str kind = json_str(json_get(owner, "kind")), name = json_str(json_get(owner, "name"));
	char *text = arena_raw(a, kind.n + name.n + 1);

	memcpy(text, str_text(kind), kind.n);
	text[kind.n] = '/';
	memcpy(text + kind.n + 1, str_text(name), name.n);
	return (struct str){ text, kind.n + name.n + 1 };
}

static void read_owner(struct meta *ret, yyjson_val *metadata, struct arena *a)
{
	yyjson_val *owners = json_get(metadata, "ownerReferences"), *owner;
	size_t i, max;

	yyjson_arr_foreach(owners, i, max, owner)
	{
		if (!yyjson_is_true(json_get(owner, "controller")))
			continue;
		ret->owner_uid = keep_text(json_str(json_get(owner, "uid")), a);
		ret->owner = kind_and_name(owner, a);
		return;
	}
}

static bool read_meta(struct meta *ret, yyjson_val *val, struct arena *a, struct err *e)
{
	yyjson_val *metadata = json_get(val, "metadata");

	READ(ret, meta_fields, metadata, a);
	if (str_empty(ret->name))
		return err_set(e, ERR_INVALID, "not an object: metadata.name is missing");
	read_owner(ret, metadata, a);
	return true;
}

static void read_state(struct container *c, yyjson_val *state, struct arena *a)
{
	yyjson_val *terminated = json_get(state, "terminated"), *running = json_get(state, "running");

	if (yyjson_is_obj(terminated)) {
		c->state = CONTAINER_TERMINATED;
		c->exit_code = -1; /* one that nobody knows is no success */
		READ(c, terminated_fields, terminated, a);
	} else if (yyjson_is_obj(running)) {
		c->state = CONTAINER_RUNNING;
		READ(c, running_fields, running, a);
	} else {
		c->state = CONTAINER_WAITING;
		READ(c, waiting_fields, json_get(state, "waiting"), a);
	}
}

static struct container *read_containers(struct container *c, yyjson_val *list, bool init, struct arena *a)
{
	yyjson_val *one;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, one)
	{
		struct str name = json_str(json_get(one, "name"));

		if (str_empty(name))
			continue;
		*c = (struct container){ .name = keep_text(name, a), .init = init };
		/* A container that the kubelet no longer finds waits in its status, and has run. */
		c->ran = json_get(json_get(one, "lastState"), "terminated") != NULL;
		read_state(c++, json_get(one, "state"), a);
	}
	return c;
}

static void read_all_containers(struct pod *ret, yyjson_val *spec, yyjson_val *status, struct arena *a)
{
	yyjson_val *init = json_get(status, "initContainerStatuses"), *main = json_get(status, "containerStatuses");
	size_t most = yyjson_arr_size(init) + yyjson_arr_size(main);
	struct container *all, *end;

	if (!most)
		return;
	all = arena_array(a, struct container, most);
	end = read_containers(all, init, true, a);
	end = read_containers(end, main, false, a);
	container_restarts_read(all, (size_t)(end - all), json_get(spec, "containers"));
	ret->containers = all;
	ret->n_containers = (size_t)(end - all);
}

static bool is_true(yyjson_val *condition)
{
	return str_eqc(json_str(json_get(condition, "status")), "True");
}

static void read_conditions(struct pod *ret, yyjson_val *status, struct arena *a)
{
	yyjson_val *conditions = json_get(status, "conditions"), *one;
	size_t i, max;

	yyjson_arr_foreach(conditions, i, max, one)
	{
		struct str type = json_str(json_get(one, "type"));

		if (str_eqc(type, "Ready")) {
			ret->ready = is_true(one);
		} else if (str_eqc(type, "DisruptionTarget") && is_true(one)) {
			ret->disrupted = true;
			ret->disrupter = keep_text(clip(json_str(json_get(one, "reason"))), a);
			READ(ret, disruption_fields, one, a);
		} else if (str_eqc(type, "PodScheduled") && str_eqc(json_str(json_get(one, "status")), "False") &&
		           str_empty(ret->message)) {
			ret->message = keep_text(clip(json_str(json_get(one, "message"))), a);
		}
	}
}

static enum pod_phase phase_of(struct str s)
{
	static const char *const names[] = { [POD_PENDING] = "Pending",
		                             [POD_RUNNING] = "Running",
		                             [POD_SUCCEEDED] = "Succeeded",
		                             [POD_FAILED] = "Failed" };

	if (str_empty(s))
		return POD_PENDING;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eqc(s, names[i]))
			return (enum pod_phase)i;
	return POD_UNKNOWN;
}

/* Anybody who may edit pods can write it: only this machine is believed. */
static struct str read_address(yyjson_val *annotations, struct arena *a)
{
	static const struct str before = STR_INIT("http://127.0.0.1:");
	struct str s = json_str(json_get(annotations, ANNOTATION_ADDRESS));
	size_t i = before.n;

	if (!str_has_prefix(s, before) || s.n > ADDRESS_MAX)
		return STR_NONE;
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return str_eqc(str_sub(s, i, s.n), "/") ? keep_text(s, a) : STR_NONE;
}

bool decode_pod(struct pod *ret, yyjson_val *val, struct arena *a, struct err *e)
{
	yyjson_val *spec = json_get(val, "spec"), *status = json_get(val, "status");

	*ret = (struct pod){ .index = -1 };
	if (!read_meta(&ret->meta, val, a, e))
		return false;
	READ(ret, pod_labels, json_at(val, "metadata", "labels", NULL), a);
	READ(ret, pod_spec_fields, spec, a);
	READ(ret, pod_status_fields, status, a);
	ret->address = read_address(json_at(val, "metadata", "annotations", NULL), a);
	ret->phase = phase_of(json_str(json_get(status, "phase")));
	ret->tolerations = tolerations_read(json_get(spec, "tolerations"));
	read_conditions(ret, status, a);
	read_all_containers(ret, spec, status, a);
	return true;
}

bool decode_service(struct service *ret, yyjson_val *val, struct arena *a, struct err *e)
{
	*ret = (struct service){ .index = -1 };
	if (!read_meta(&ret->meta, val, a, e))
		return false;
	READ(ret, service_labels, json_at(val, "metadata", "labels", NULL), a);
	return true;
}

/* Volcano says so by a condition; the latest stands last. scheduler-plugins only says it of the pods. */
static struct str why_not(yyjson_val *status, struct arena *a)
{
	struct str message = STR_NONE;
	yyjson_val *one;
	size_t i, max;

	yyjson_arr_foreach(json_get(status, "conditions"), i, max, one)
	{
		if (!is_true(one))
			continue;
		if (str_eqc(json_str(json_get(one, "type")), "Unschedulable"))
			message = json_str(json_get(one, "message"));
		else if (str_eqc(json_str(json_get(one, "type")), "Scheduled"))
			message = STR_NONE;
	}
	return keep_text(clip(message), a);
}

bool decode_group(struct group *ret, yyjson_val *val, struct arena *a, struct err *e)
{
	yyjson_val *spec = json_get(val, "spec"), *status = json_get(val, "status");

	*ret = (struct group){ .timeout = -1 };
	if (!read_meta(&ret->meta, val, a, e))
		return false;
	READ(ret, group_labels, json_at(val, "metadata", "labels", NULL), a);
	READ(ret, group_fields, spec, a);
	ret->needs = needs_of_list(json_get(spec, "minResources"), a);
	for (size_t i = 0; i < ret->needs.n; i++)
		ret->needs.v[i].name = arena_str(a, ret->needs.v[i].name);
	ret->phase = keep_text(clip(json_str(json_get(status, "phase"))), a);
	ret->message = why_not(status, a);
	return true;
}

static struct child *decode_new_pod(yyjson_val *val, struct arena *a, struct err *e)
{
	struct pod *pod = arena_new(a, struct pod);

	return decode_pod(pod, val, a, e) ? &pod->child : NULL;
}

static struct child *decode_new_service(yyjson_val *val, struct arena *a, struct err *e)
{
	struct service *service = arena_new(a, struct service);

	return decode_service(service, val, a, e) ? &service->child : NULL;
}

static struct child *decode_new_group(yyjson_val *val, struct arena *a, struct err *e)
{
	struct group *group = arena_new(a, struct group);

	return decode_group(group, val, a, e) ? &group->child : NULL;
}

const struct child *decode_child(enum resource r, yyjson_val *val, struct arena *a, struct err *e)
{
	static struct child *(*const decoders[RES_COUNT])(yyjson_val * val, struct arena * a, struct err * e) = {
		[RES_POD] = decode_new_pod,
		[RES_SERVICE] = decode_new_service,
		[RES_GROUP] = decode_new_group,
	};

	ASSERT(r < RES_COUNT && decoders[r]);
	return decoders[r](val, a, e);
}

bool decode_node(struct node *ret, yyjson_val *val, struct arena *a, struct err *e)
{
	yyjson_val *conditions = json_at(val, "status", "conditions", NULL);
	yyjson_val *taints = json_at(val, "spec", "taints", NULL), *one;
	struct meta meta = { 0 };
	size_t i, max;

	*ret = (struct node){ 0 };
	if (!read_meta(&meta, val, a, e))
		return false;
	ret->name = meta.name;
	yyjson_arr_foreach(conditions, i, max, one)
	{
		if (!str_eqc(json_str(json_get(one, "type")), "Ready"))
			continue;
		ret->ready = is_true(one);
		ret->unreachable = str_eqc(json_str(json_get(one, "status")), "Unknown");
	}
	yyjson_arr_foreach(taints, i, max, one)
	{
		if (str_eqc(json_str(json_get(one, "key")), "node.kubernetes.io/out-of-service"))
			ret->out_of_service = true;
	}
	return true;
}

bool decode_job(struct job_object *ret, yyjson_val *val, struct str kind, struct arena *a, struct err *e)
{
	*ret = (struct job_object){ .kind = kind, .root = val };
	return read_meta(&ret->meta, val, a, e);
}

void decode_status(struct outcome *ret, yyjson_val *val)
{
	struct str reason = json_str(json_get(val, "reason")), message = json_str(json_get(val, "message"));
	int64_t seconds;

	if (!str_eqc(json_str(json_get(val, "kind")), "Status"))
		return;
	if (!str_empty(reason))
		ret->reason = reason;
	if (!str_empty(message))
		ret->message = message;
	if (json_int(json_at(val, "details", "retryAfterSeconds", NULL), &seconds) && seconds > 0 &&
	    seconds <= INT32_MAX)
		ret->retry_after = SECONDS(seconds);
}
