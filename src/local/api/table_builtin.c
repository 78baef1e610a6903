/* Rows of the other types that every cluster has. */
#include "local/api/table_cells.h"

static yyjson_val *meta(yyjson_val *o, const char *key)
{
	return json_at(o, "metadata", key, NULL);
}

static void name_cell(struct table_cells *c, yyjson_val *o)
{
	cell_text(c, json_str(meta(o, "name")));
}

static void age_cell(struct table_cells *c, yyjson_val *o)
{
	cell_age(c, meta(o, "creationTimestamp"));
}

#define NAME                                                                                                           \
	{                                                                                                              \
		"Name", "string", "name", 0                                                                            \
	}
#define TEXT(name)                                                                                                     \
	{                                                                                                              \
		(name), "string", "", 0                                                                                \
	}
#define WIDE(name)                                                                                                     \
	{                                                                                                              \
		(name), "string", "", 1                                                                                \
	}

/* Any other type. */
static const struct table_column plain_columns[] = { NAME, TEXT("Age") };

static const struct table_column configmap_columns[] = { NAME, TEXT("Data"), TEXT("Age") };

static void configmap_row(struct table_cells *c, yyjson_val *o)
{
	name_cell(c, o);
	cell_textf(c, "%zu", yyjson_obj_size(json_get(o, "data")) + yyjson_obj_size(json_get(o, "binaryData")));
	age_cell(c, o);
}

static const struct table_column secret_columns[] = { NAME, TEXT("Type"), TEXT("Data"), TEXT("Age") };

static void secret_row(struct table_cells *c, yyjson_val *o)
{
	name_cell(c, o);
	cell_text(c, json_str(json_get(o, "type")));
	cell_textf(c, "%zu", yyjson_obj_size(json_get(o, "data")));
	age_cell(c, o);
}

static const struct table_column namespace_columns[] = { NAME, TEXT("Status"), TEXT("Age") };

static void namespace_row(struct table_cells *c, yyjson_val *o)
{
	name_cell(c, o);
	cell_text(c, json_str(json_at(o, "status", "phase", NULL)));
	age_cell(c, o);
}

static const struct table_column lease_columns[] = { NAME, TEXT("Holder"), TEXT("Age") };

static void lease_row(struct table_cells *c, yyjson_val *o)
{
	name_cell(c, o);
	cell_text(c, json_str(json_at(o, "spec", "holderIdentity", NULL)));
	age_cell(c, o);
}

static const struct table_column crd_columns[] = { NAME, { "Created At", "date", "", 0 } };

static void crd_row(struct table_cells *c, yyjson_val *o)
{
	name_cell(c, o);
	cell_text(c, json_str(meta(o, "creationTimestamp")));
}

/* "a=b,c=d" */
static void put_pairs(struct buf *b, yyjson_val *obj)
{
	yyjson_val *key, *val;
	size_t i, max;

	yyjson_obj_foreach(obj, i, max, key, val)
	{
		buf_printf(b, "%s%.*s=%.*s", b->n ? "," : "", STR_F(json_str(key)), STR_F(json_str(val)));
	}
}

/* Services */

static const struct table_column service_columns[] = {
	NAME, TEXT("Type"), TEXT("Cluster-IP"), TEXT("External-IP"), TEXT("Port(s)"), TEXT("Age"), WIDE("Selector"),
};

static void put_ports(struct buf *b, yyjson_val *ports)
{
	yyjson_val *p;
	size_t i, max;

	yyjson_arr_foreach(ports, i, max, p)
	{
		struct str protocol = json_str(json_get(p, "protocol"));
		int64_t port = 0, node = 0;

		json_int(json_get(p, "port"), &port);
		buf_printf(b, "%s%lld", b->n ? "," : "", (long long)port);
		if (json_int(json_get(p, "nodePort"), &node) && node)
			buf_printf(b, ":%lld", (long long)node);
		buf_putc(b, '/');
		buf_put(b, protocol.n ? protocol : STR("TCP"));
	}
}

static void service_row(struct table_cells *c, yyjson_val *o)
{
	yyjson_val *spec = json_get(o, "spec"), *v;
	struct str type = json_str(json_get(spec, "type")), ip = json_str(json_get(spec, "clusterIP"));
	struct buf b = BUF_INIT(4096);
	size_t i, max;

	name_cell(c, o);
	cell_text(c, type.n ? type : STR("ClusterIP"));
	cell_or_none(c, ip);
	yyjson_arr_foreach(json_get(spec, "externalIPs"), i, max, v)
	{
		buf_printf(&b, "%s%.*s", b.n ? "," : "", STR_F(json_str(v)));
	}
	cell_or_none(c, str_eqc(type, "ExternalName") ? json_str(json_get(spec, "externalName")) : buf_str(&b));
	buf_clear(&b);
	put_ports(&b, json_get(spec, "ports"));
	cell_or_none(c, buf_str(&b));
	age_cell(c, o);
	buf_clear(&b);
	put_pairs(&b, json_get(spec, "selector"));
	cell_or_none(c, buf_str(&b));
	buf_release(&b);
}

/* Events */

static const struct table_column event_columns[] = {
	TEXT("Last Seen"), TEXT("Type"),    TEXT("Reason"),     TEXT("Object"), WIDE("Subobject"),
	WIDE("Source"),    TEXT("Message"), WIDE("First Seen"), WIDE("Count"),  WIDE("Name"),
};

static yyjson_val *first_time(yyjson_val *a, yyjson_val *b)
{
	return json_str(a).n ? a : b;
}

static void put_lower(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_putc(b, (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + ('a' - 'A') : s.p[i]));
}

static void event_row(struct table_cells *c, yyjson_val *o)
{
	yyjson_val *about = json_get(o, "involvedObject"), *series = json_get(o, "series");
	yyjson_val *first = first_time(json_get(o, "firstTimestamp"), json_get(o, "eventTime"));
	yyjson_val *last = first_time(json_get(o, "lastTimestamp"), first);
	struct str component = json_str(json_at(o, "source", "component", NULL));
	struct str host = json_str(json_at(o, "source", "host", NULL));
	struct buf b = BUF_INIT(4096);
	int64_t count = 1;

	json_int(json_get(o, "count"), &count);
	json_int(json_get(series, "count"), &count);
	cell_age(c, first_time(json_get(series, "lastObservedTime"), last));
	cell_text(c, json_str(json_get(o, "type")));
	cell_text(c, json_str(json_get(o, "reason")));
	put_lower(&b, json_str(json_get(about, "kind")));
	buf_printf(&b, "/%.*s", STR_F(json_str(json_get(about, "name"))));
	cell_text(c, buf_str(&b));
	buf_release(&b);
	cell_text(c, json_str(json_get(about, "fieldPath")));
	if (str_empty(component))
		component = json_str(json_get(o, "reportingComponent"));
	if (host.n)
		cell_textf(c, "%.*s, %.*s", STR_F(component), STR_F(host));
	else
		cell_text(c, component);
	cell_text(c, str_trim(json_str(json_get(o, "message"))));
	cell_age(c, first);
	cell_textf(c, "%lld", (long long)MAX(count, (int64_t)1));
	name_cell(c, o);
}

/* Nodes */

static const struct table_column node_columns[] = {
	NAME,
	TEXT("Status"),
	TEXT("Roles"),
	TEXT("Age"),
	TEXT("Version"),
	WIDE("Internal-IP"),
	WIDE("External-IP"),
	WIDE("OS-Image"),
	WIDE("Kernel-Version"),
	WIDE("Container-Runtime"),
};

static void put_roles(struct buf *b, yyjson_val *labels)
{
	static const struct str prefix = STR_INIT("node-role.kubernetes.io/");
	yyjson_val *key, *val;
	size_t i, max;

	yyjson_obj_foreach(labels, i, max, key, val)
	{
		struct str k = json_str(key);

		if (str_has_prefix(k, prefix) && k.n > prefix.n)
			buf_printf(b, "%s%.*s", b->n ? "," : "", STR_F(str_sub(k, prefix.n, k.n)));
		else if (str_eqc(k, "kubernetes.io/role") && json_str(val).n)
			buf_printf(b, "%s%.*s", b->n ? "," : "", STR_F(json_str(val)));
	}
}

static struct str address(yyjson_val *o, const char *type)
{
	yyjson_val *v;
	size_t i, max;

	yyjson_arr_foreach(json_at(o, "status", "addresses", NULL), i, max, v)
	{
		if (str_eqc(json_str(json_get(v, "type")), type))
			return json_str(json_get(v, "address"));
	}
	return STR_NONE;
}

static const char *node_state(yyjson_val *o)
{
	yyjson_val *v;
	size_t i, max;

	yyjson_arr_foreach(json_at(o, "status", "conditions", NULL), i, max, v)
	{
		if (str_eqc(json_str(json_get(v, "type")), "Ready"))
			return str_eqc(json_str(json_get(v, "status")), "True") ? "Ready" : "NotReady";
	}
	return "Unknown";
}

static void node_row(struct table_cells *c, yyjson_val *o)
{
	yyjson_val *info = json_at(o, "status", "nodeInfo", NULL);
	struct buf b = BUF_INIT(4096);

	name_cell(c, o);
	cell_textf(c, "%s%s", node_state(o),
	           yyjson_is_true(json_at(o, "spec", "unschedulable", NULL)) ? ",SchedulingDisabled" : "");
	put_roles(&b, meta(o, "labels"));
	cell_or_none(c, buf_str(&b));
	buf_release(&b);
	age_cell(c, o);
	cell_text(c, json_str(json_get(info, "kubeletVersion")));
	cell_or_none(c, address(o, "InternalIP"));
	cell_or_none(c, address(o, "ExternalIP"));
	cell_or_none(c, json_str(json_get(info, "osImage")));
	cell_or_none(c, json_str(json_get(info, "kernelVersion")));
	cell_or_none(c, json_str(json_get(info, "containerRuntimeVersion")));
}

static void plain_row(struct table_cells *c, yyjson_val *o)
{
	name_cell(c, o);
	age_cell(c, o);
}

#define TYPE(group, plural, columns, row)                                                                              \
	{                                                                                                              \
		(group), (plural), (columns), ARRAY_LEN(columns), (row)                                                \
	}
static const struct table_type types[] = {
	TYPE("", "configmaps", configmap_columns, configmap_row),
	TYPE("", "events", event_columns, event_row),
	TYPE("", "namespaces", namespace_columns, namespace_row),
	TYPE("", "nodes", node_columns, node_row),
	TYPE("", "secrets", secret_columns, secret_row),
	TYPE("", "services", service_columns, service_row),
	TYPE("coordination.k8s.io", "leases", lease_columns, lease_row),
	TYPE("apiextensions.k8s.io", "customresourcedefinitions", crd_columns, crd_row),
};
static const struct table_type plain = TYPE("", "", plain_columns, plain_row);

const struct table_type *table_builtin(const struct store_type *t)
{
	if (t->custom)
		return NULL;
	if (str_empty(t->group) && str_eqc(t->plural, "pods"))
		return &table_pods;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_eqc(t->group, types[i].group) && str_eqc(t->plural, types[i].plural))
			return &types[i];
	return &plain;
}
