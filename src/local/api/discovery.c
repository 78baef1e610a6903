#include "local/api/discovery.h"

#include "local/api/route.h"

#define VERBS "\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"update\",\"watch\""
#define VERBS_STATUS "\"get\",\"patch\",\"update\""
/* The release whose API this is a part of. */
#define KUBERNETES_MINOR "32"

/* Its members but for the closing brace. */
#define METRICS_AS_VERSION                                                                                             \
	"{\"groupVersion\":\"" METRICS_GROUP "/" METRICS_VERSION "\",\"version\":\"" METRICS_VERSION "\"}"
#define METRICS_AS_GROUP                                                                                               \
	"\"name\":\"" METRICS_GROUP "\",\"versions\":[" METRICS_AS_VERSION "],"                                        \
	"\"preferredVersion\":" METRICS_AS_VERSION

static void put_raw(struct buf *b, const char *text)
{
	buf_put(b, str_c(text));
}

/* `"key":"value"` */
static void put_member(struct buf *b, const char *key, struct str value)
{
	buf_printf(b, "\"%s\":", key);
	buf_json_str(b, value);
}

/* "a,b" as a list of strings. */
static void put_list(struct buf *b, const char *key, struct str commas)
{
	struct str part;
	const char *comma = "";

	if (str_empty(commas))
		return;
	buf_printf(b, ",\"%s\":[", key);
	for (; str_next(&commas, ',', &part); comma = ",") {
		put_raw(b, comma);
		buf_json_str(b, part);
	}
	buf_putc(b, ']');
}

/* v2 before v1 before v1beta1 before v1alpha1 before anything else. */
struct rank {
	int stage;
	int64_t major, minor;
};

static struct str digits(struct str *s)
{
	size_t n = 0;

	while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
		n++;
	*s = str_sub(*s, n, s->n);
	return (struct str){ s->p - n, n };
}

static struct rank rank_of(struct str version)
{
	static const struct {
		const char *word;
		int stage;
	} stages[] = { { "beta", 2 }, { "alpha", 1 } };
	struct rank r = { 0 };

	if (!str_has_prefix(version, STR("v")))
		return r;
	version = str_sub(version, 1, version.n);
	if (!str_int(digits(&version), &r.major))
		return (struct rank){ 0 };
	if (str_empty(version))
		r.stage = 3;
	for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
		if (!str_has_prefix(version, str_c(stages[i].word)))
			continue;
		version = str_sub(version, strlen(stages[i].word), version.n);
		if (str_int(version, &r.minor))
			r.stage = stages[i].stage;
		break;
	}
	return r.stage ? r : (struct rank){ 0 };
}

static bool goes_before(struct str a, struct str b)
{
	struct rank x = rank_of(a), y = rank_of(b);

	if (x.stage != y.stage)
		return x.stage > y.stage;
	if (x.major != y.major)
		return x.major > y.major;
	if (x.minor != y.minor)
		return x.minor > y.minor;
	return str_cmp(a, b) < 0;
}

static bool same_group(const struct store_type *a, const struct store_type *b)
{
	return str_eq(a->group, b->group);
}

bool discovery_is_first(const struct store *s, const struct store_type *t)
{
	const struct store_type *o;

	for (size_t i = 0; (o = store_type_at(s, i)); i++)
		if (same_group(o, t) && str_eq(o->version, t->version))
			return o == t;
	return false;
}

static bool is_first_of_group(const struct store *s, const struct store_type *t)
{
	const struct store_type *o;

	for (size_t i = 0; (o = store_type_at(s, i)); i++)
		if (same_group(o, t))
			return o == t;
	return false;
}

/* The version of T's group that comes after AFTER (NULL: the first); one type stands for it. */
static const struct store_type *next_version(const struct store *s, const struct store_type *t,
                                             const struct store_type *after)
{
	const struct store_type *o, *best = NULL;

	for (size_t i = 0; (o = store_type_at(s, i)); i++) {
		if (!same_group(o, t) || !discovery_is_first(s, o))
			continue;
		if (after && !goes_before(after->version, o->version))
			continue;
		if (!best || goes_before(o->version, best->version))
			best = o;
	}
	return best;
}

void discovery_path(struct buf *b, const struct store_type *t)
{
	if (str_empty(t->group))
		buf_printf(b, "api/%.*s", STR_F(t->version));
	else
		buf_printf(b, "apis/%.*s/%.*s", STR_F(t->group), STR_F(t->version));
}

void discovery_paths(struct buf *b, const struct store *s)
{
	const struct store_type *t;

	put_raw(b, "{\"paths\":[\"/api\",\"/apis\"");
	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		if (!discovery_is_first(s, t))
			continue;
		put_raw(b, ",\"/");
		discovery_path(b, t);
		buf_putc(b, '"');
	}
	put_raw(b, ",\"/healthz\",\"/livez\",\"/openapi/v3\",\"/readyz\",\"/version\"]}");
}

void discovery_core(struct buf *b)
{
	put_raw(b, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":[]}");
}

static void put_group_version(struct buf *b, const struct store_type *t)
{
	buf_printf(b, "{\"groupVersion\":\"%.*s/%.*s\",", STR_F(t->group), STR_F(t->version));
	put_member(b, "version", t->version);
	buf_putc(b, '}');
}

static void put_group(struct buf *b, const struct store *s, const struct store_type *t)
{
	const struct store_type *first = next_version(s, t, NULL);
	const char *comma = "";

	ASSERT(first);
	put_member(b, "name", t->group);
	put_raw(b, ",\"versions\":[");
	for (const struct store_type *v = first; v; v = next_version(s, t, v), comma = ",") {
		put_raw(b, comma);
		put_group_version(b, v);
	}
	put_raw(b, "],\"preferredVersion\":");
	put_group_version(b, first);
	buf_putc(b, '}');
}

void discovery_groups(struct buf *b, const struct store *s)
{
	const struct store_type *t;
	const char *comma = "";

	put_raw(b, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
	put_raw(b, "{" METRICS_AS_GROUP "}");
	comma = ",";
	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		if (str_empty(t->group) || !is_first_of_group(s, t))
			continue;
		put_raw(b, comma);
		buf_putc(b, '{');
		put_group(b, s, t);
		comma = ",";
	}
	put_raw(b, "]}");
}

void discovery_group(struct buf *b, const struct store *s, struct str group)
{
	const struct store_type *t;

	put_raw(b, "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",");
	if (str_eqc(group, METRICS_GROUP))
		put_raw(b, METRICS_AS_GROUP "}");
	for (size_t i = 0; (t = store_type_at(s, i)); i++)
		if (str_eq(t->group, group) && is_first_of_group(s, t))
			put_group(b, s, t);
}

static bool is_pods(const struct store_type *t)
{
	return str_empty(t->group) && str_eqc(t->plural, "pods");
}

static void put_resource(struct buf *b, const struct store_type *t, const char *sub, const char *verbs)
{
	buf_putc(b, '{');
	buf_printf(b, "\"name\":\"%.*s%s\",", STR_F(t->plural), sub);
	put_member(b, "singularName", *sub ? STR_NONE : t->singular);
	buf_printf(b, ",\"namespaced\":%s,", t->namespaced ? "true" : "false");
	put_member(b, "kind", t->kind);
	buf_printf(b, ",\"verbs\":[%s]", verbs);
	if (!*sub) {
		put_list(b, "shortNames", t->short_names);
		put_list(b, "categories", t->categories);
	}
	buf_putc(b, '}');
}

void discovery_resources(struct buf *b, const struct store *s, struct str group, struct str version)
{
	const struct store_type *t;
	const char *comma = "";

	put_raw(b, "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"");
	buf_printf(b, "%.*s%s%.*s\",\"resources\":[", STR_F(group), group.n ? "/" : "", STR_F(version));
	if (str_eqc(group, METRICS_GROUP))
		put_raw(b, "{\"name\":\"pods\",\"singularName\":\"pod\",\"namespaced\":true,\"kind\":\"PodMetrics\","
		           "\"verbs\":[\"get\",\"list\"]}");
	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		if (!str_eq(t->group, group) || !str_eq(t->version, version))
			continue;
		put_raw(b, comma);
		put_resource(b, t, "", VERBS);
		comma = ",";
		if (t->status) {
			buf_putc(b, ',');
			put_resource(b, t, "/status", VERBS_STATUS);
		}
		if (is_pods(t)) {
			buf_putc(b, ',');
			put_resource(b, t, "/log", "\"get\"");
			/* By its group kubectl sees that pods can be evicted. */
			put_raw(b, ",{\"name\":\"pods/eviction\",\"singularName\":\"\",\"namespaced\":true,"
			           "\"group\":\"policy\",\"version\":\"v1\",\"kind\":\"Eviction\","
			           "\"verbs\":[\"create\"]}");
		}
	}
	put_raw(b, "]}");
}

/* All at once */

static void put_kind(struct buf *b, const struct store_type *t)
{
	put_raw(b, "\"responseKind\":{");
	put_member(b, "group", t->group);
	buf_putc(b, ',');
	put_member(b, "version", t->version);
	buf_putc(b, ',');
	put_member(b, "kind", t->kind);
	buf_putc(b, '}');
}

static void put_sub(struct buf *b, const struct store_type *t, const char *name, const char *verbs)
{
	buf_printf(b, "{\"subresource\":\"%s\",", name);
	put_kind(b, t);
	buf_printf(b, ",\"verbs\":[%s]}", verbs);
}

static void put_whole_resource(struct buf *b, const struct store_type *t)
{
	buf_putc(b, '{');
	put_member(b, "resource", t->plural);
	buf_putc(b, ',');
	put_kind(b, t);
	buf_printf(b, ",\"scope\":\"%s\",", t->namespaced ? "Namespaced" : "Cluster");
	put_member(b, "singularResource", t->singular);
	put_raw(b, ",\"verbs\":[" VERBS "]");
	put_list(b, "shortNames", t->short_names);
	put_list(b, "categories", t->categories);
	if (t->status || is_pods(t)) {
		put_raw(b, ",\"subresources\":[");
		if (t->status)
			put_sub(b, t, "status", VERBS_STATUS);
		if (is_pods(t)) {
			put_raw(b, t->status ? "," : "");
			put_sub(b, t, "log", "\"get\"");
			put_raw(b, ",{\"subresource\":\"eviction\",\"responseKind\":{\"group\":\"policy\","
			           "\"version\":\"v1\",\"kind\":\"Eviction\"},\"verbs\":[\"create\"]}");
		}
		buf_putc(b, ']');
	}
	buf_putc(b, '}');
}

static void put_whole_version(struct buf *b, const struct store *s, const struct store_type *v)
{
	const struct store_type *t;
	const char *comma = "";

	buf_putc(b, '{');
	put_member(b, "version", v->version);
	put_raw(b, ",\"resources\":[");
	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		if (!same_group(t, v) || !str_eq(t->version, v->version))
			continue;
		put_raw(b, comma);
		put_whole_resource(b, t);
		comma = ",";
	}
	put_raw(b, "],\"freshness\":\"Current\"}");
}

void discovery_all(struct buf *b, const struct store *s, bool core, enum accept_form form)
{
	const struct store_type *t;
	const char *comma = "";

	buf_printf(b,
	           "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/%s\",\"metadata\":{},"
	           "\"items\":[",
	           form == ACCEPT_DISCOVERY_BETA ? "v2beta1" : "v2");
	if (!core) {
		put_raw(b,
		        "{\"metadata\":{\"name\":\"" METRICS_GROUP "\"},\"versions\":[{\"version\":\"" METRICS_VERSION
		        "\",\"resources\":[{\"resource\":\"pods\",\"responseKind\":{\"group\":\"" METRICS_GROUP
		        "\",\"version\":\"" METRICS_VERSION "\",\"kind\":\"PodMetrics\"},\"scope\":\"Namespaced\","
		        "\"singularResource\":\"pod\",\"verbs\":[\"get\",\"list\"]}],\"freshness\":\"Current\"}]}");
		comma = ",";
	}
	for (size_t i = 0; (t = store_type_at(s, i)); i++) {
		const char *between = "";

		if (str_empty(t->group) != core || !is_first_of_group(s, t))
			continue;
		buf_printf(b, "%s{\"metadata\":{", comma);
		if (!core)
			put_member(b, "name", t->group);
		put_raw(b, "},\"versions\":[");
		for (const struct store_type *v = next_version(s, t, NULL); v; v = next_version(s, t, v)) {
			put_raw(b, between);
			put_whole_version(b, s, v);
			between = ",";
		}
		put_raw(b, "]}");
		comma = ",";
	}
	put_raw(b, "]}");
}

void discovery_version(struct buf *b, const char *server)
{
	put_raw(b, "{\"major\":\"1\",\"minor\":\"" KUBERNETES_MINOR "\",\"gitVersion\":");
	put_raw(b, "\"v1." KUBERNETES_MINOR ".0+dljob");
	if (server && *server)
		buf_printf(b, "-%s", server);
	put_raw(b,
	        "\",\"gitCommit\":\"\",\"gitTreeState\":\"\",\"buildDate\":\"\",\"goVersion\":\"\",\"compiler\":\"\","
	        "\"platform\":\"linux\"}");
}
