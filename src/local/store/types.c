#include "local/store/types.h"

#include "local/store/crd.h"
#include "local/store/prepare.h"

static const char *const pod_fields[] = {
	"status.phase", "spec.nodeName",    "spec.restartPolicy",      "spec.schedulerName",
	"status.podIP", "spec.hostNetwork", "spec.serviceAccountName", NULL
};
static const char *const namespace_fields[] = { "status.phase", NULL };
static const char *const node_fields[] = { "spec.unschedulable", NULL };
static const char *const secret_fields[] = { "type", NULL };
static const char *const event_fields[] = { "involvedObject.kind",
	                                    "involvedObject.namespace",
	                                    "involvedObject.name",
	                                    "involvedObject.uid",
	                                    "involvedObject.apiVersion",
	                                    "involvedObject.resourceVersion",
	                                    "involvedObject.fieldPath",
	                                    "reason",
	                                    "reportingComponent",
	                                    "source",
	                                    "type",
	                                    NULL };
static const char *const no_fields[] = { NULL };

const struct type_rules rules_custom = { .generation = true, .conditional = true, .fields = no_fields };
static const struct type_rules rules_config_map = { .fields = no_fields, .prepare = prepare_config_map };
static const struct type_rules rules_pod = {
	.generation = true, .answers_object = true, .graceful = true, .fields = pod_fields, .prepare = prepare_pod
};
static const struct type_rules rules_service = { .names = NAME_LABEL_1035,
	                                         .answers_object = true,
	                                         .fields = no_fields };
static const struct type_rules rules_namespace = { .names = NAME_LABEL,
	                                           .drained = true,
	                                           .answers_object = true,
	                                           .fields = namespace_fields,
	                                           .prepare = prepare_namespace };
static const struct type_rules rules_node = { .keeps_status = true, .fields = node_fields };
static const struct type_rules rules_event = { .made_by_update = true, .fields = event_fields };
static const struct type_rules rules_lease = { .conditional = true, .made_by_update = true, .fields = no_fields };
static const struct type_rules rules_secret = { .fields = secret_fields, .prepare = prepare_secret };
static const struct type_rules rules_crd = {
	.generation = true, .conditional = true, .drained = true, .fields = no_fields, .prepare = crd_prepare
};

#define CORE STR_INIT(""), STR_INIT("v1")

static const struct {
	struct store_type type;
	const struct type_rules *rules;
} builtin[] = {
	{ { CORE, STR_INIT("configmaps"), STR_INIT("configmap"), STR_INIT("ConfigMap"), STR_INIT("ConfigMapList"),
	    STR_INIT("cm"), STR_INIT(""), true, false, false },
	  &rules_config_map },
	{ { CORE, STR_INIT("events"), STR_INIT("event"), STR_INIT("Event"), STR_INIT("EventList"), STR_INIT("ev"),
	    STR_INIT(""), true, false, false },
	  &rules_event },
	{ { CORE, STR_INIT("namespaces"), STR_INIT("namespace"), STR_INIT("Namespace"), STR_INIT("NamespaceList"),
	    STR_INIT("ns"), STR_INIT(""), false, true, false },
	  &rules_namespace },
	{ { CORE, STR_INIT("nodes"), STR_INIT("node"), STR_INIT("Node"), STR_INIT("NodeList"), STR_INIT("no"),
	    STR_INIT(""), false, true, false },
	  &rules_node },
	{ { CORE, STR_INIT("pods"), STR_INIT("pod"), STR_INIT("Pod"), STR_INIT("PodList"), STR_INIT("po"),
	    STR_INIT("all"), true, true, false },
	  &rules_pod },
	{ { CORE, STR_INIT("secrets"), STR_INIT("secret"), STR_INIT("Secret"), STR_INIT("SecretList"), STR_INIT(""),
	    STR_INIT(""), true, false, false },
	  &rules_secret },
	{ { CORE, STR_INIT("services"), STR_INIT("service"), STR_INIT("Service"), STR_INIT("ServiceList"),
	    STR_INIT("svc"), STR_INIT("all"), true, true, false },
	  &rules_service },
	{ { STR_INIT("coordination.k8s.io"), STR_INIT("v1"), STR_INIT("leases"), STR_INIT("lease"), STR_INIT("Lease"),
	    STR_INIT("LeaseList"), STR_INIT(""), STR_INIT(""), true, false, false },
	  &rules_lease },
	{ { STR_INIT("apiextensions.k8s.io"), STR_INIT("v1"), STR_INIT("customresourcedefinitions"),
	    STR_INIT("customresourcedefinition"), STR_INIT("CustomResourceDefinition"),
	    STR_INIT("CustomResourceDefinitionList"), STR_INIT("crd,crds"), STR_INIT("api-extensions"), false, true,
	    false },
	  &rules_crd },
};

struct stored_type *type_new(struct store *s, const struct store_type *t, struct str resource,
                             const struct type_rules *rules)
{
	struct stored_type *type = xcalloc(1, sizeof(*type)), **at = &s->types;

	*type = (struct stored_type){ .pub = *t, .rules = rules };
	type->resource.p = xstrndup(resource.p, resource.n);
	type->resource.n = resource.n;
	while (*at)
		at = &(*at)->next;
	*at = type;
	return type;
}

void types_builtin(struct store *s)
{
	for (size_t i = 0; i < ARRAY_LEN(builtin); i++) {
		const struct store_type *t = &builtin[i].type;
		struct str resource = str_empty(t->group)
		                              ? t->plural
		                              : arena_printf(&s->arena, "%.*s.%.*s", STR_F(t->plural), STR_F(t->group));

		type_new(s, t, resource, builtin[i].rules)->storage = true;
	}
}

void types_release(struct store *s)
{
	for (struct stored_type *t = s->types, *next; t; t = next) {
		next = t->next;
		arena_release(&t->arena);
		str_free(t->resource);
		free(t);
	}
	s->types = NULL;
}

struct stored_type *type_find(const struct store *s, struct str group, struct str version, struct str plural)
{
	for (struct stored_type *t = s->types; t; t = t->next)
		if (str_eq(t->pub.plural, plural) && str_eq(t->pub.group, group) && str_eq(t->pub.version, version))
			return t;
	return NULL;
}

const struct stored_type *type_of_resource(const struct store *s, struct str resource)
{
	const struct stored_type *found = NULL;

	for (const struct stored_type *t = s->types; t; t = t->next)
		if (str_eq(t->resource, resource) && (!found || (t->storage && !t->gone)))
			found = t;
	return found;
}

const struct store_type *store_type(const struct store *s, struct str group, struct str version, struct str plural)
{
	const struct stored_type *t = type_find(s, group, version, plural);

	return t && !t->gone ? &t->pub : NULL;
}

const struct store_type *store_type_at(const struct store *s, size_t i)
{
	for (const struct stored_type *t = s->types; t; t = t->next)
		if (!t->gone && i-- == 0)
			return &t->pub;
	return NULL;
}
