/* The pod template: which containers there are, which of them count, which ports they have. */
#include "base/json.h"
#include "job/read.h"

enum { CONTAINERS_MAX = 100, PORTS_MAX = 1000, PORT_MAX = 65535 };

struct match {
	unsigned said;
	struct str name, prefix;
	bool first;
};

static const struct decode_field match_fields[] = {
	{ .name = "name", .type = FIELD_STR, .offset = offsetof(struct match, name) },
	{ .name = "prefix", .type = FIELD_STR, .offset = offsetof(struct match, prefix) },
	{ .name = "first", .type = FIELD_BOOL, .offset = offsetof(struct match, first) },
};
static const struct decode_table match_table = TABLE_OF(match_fields);

struct port_doc {
	unsigned said;
	struct str name, prefix;
	int32_t number;
};

static const struct decode_field port_fields[] = {
	{ .name = "name", .type = FIELD_STR, .offset = offsetof(struct port_doc, name) },
	{ .name = "port", .type = FIELD_INT32, .offset = offsetof(struct port_doc, number), .min = 1, .max = PORT_MAX },
};
static const struct decode_table port_table = TABLE_OF(port_fields);

static const struct decode_field prefix_fields[] = {
	{ .name = "prefix", .type = FIELD_STR, .offset = offsetof(struct port_doc, prefix) },
};
static const struct decode_table prefix_table = TABLE_OF(prefix_fields);

struct template_reader {
	struct role_doc *doc;
	struct role *role;
	struct problems *p;
	struct arena *a;
	struct str spec;        /* path of template.spec */
	struct str port_prefix; /* of the container ports that count; empty: all */
	VEC(struct template_container) containers;
	VEC(struct port) ports; /* of the service */
	VEC(size_t) owners;     /* for each of them: its container */
};

/* A path below the template's spec, or the spec itself. */
static struct str below(const struct template_reader *r, struct str path)
{
	return path.n ? arena_printf(r->a, "%.*s.%.*s", STR_F(r->spec), STR_F(path)) : r->spec;
}

static bool absent(yyjson_val *val)
{
	return !val || yyjson_is_null(val);
}

/* A list, or nothing (then it is empty). */
static bool want_list(struct template_reader *r, yyjson_val *list, struct str path)
{
	if (absent(list) || yyjson_is_arr(list))
		return true;
	problem_error(r->p, below(r, path), "must be a list, found %s", json_type_name(list));
	return false;
}

static void read_env(struct template_reader *r, yyjson_val *container, struct str path)
{
	yyjson_val *list = json_get(container, "env"), *one;
	yyjson_arr_iter iter;
	struct str name;

	path = arena_printf(r->a, "%.*s.env", STR_F(path));
	if (!want_list(r, list, path) || absent(list))
		return;
	yyjson_arr_iter_init(list, &iter);
	while ((one = yyjson_arr_iter_next(&iter))) {
		name = json_str(json_get(one, "name"));
		if (!name.n)
			problem_error(r->p, below(r, path), "entry %zu must be an object with a name", iter.idx - 1);
	}
}

static bool read_port(struct template_reader *r, yyjson_val *val, struct port *ret, struct str path)
{
	yyjson_val *name = json_get(val, "name");
	int64_t number;

	if (!yyjson_is_obj(val)) {
		problem_error(r->p, below(r, path), "must be an object, found %s", json_type_name(val));
		return false;
	}
	if (!absent(name) && !yyjson_is_str(name)) {
		problem_error(r->p, below(r, path), "name must be a string, found %s", json_type_name(name));
		return false;
	}
	if (!json_int(json_get(val, "containerPort"), &number) || number < 1 || number > PORT_MAX) {
		problem_error(r->p, below(r, path), "containerPort must be 1 to 65535");
		return false;
	}
	ret->name = json_str(name);
	ret->number = (int32_t)number;
	return true;
}

static void read_ports(struct template_reader *r, yyjson_val *container, struct template_container *ret,
                       struct str path)
{
	yyjson_val *list = json_get(container, "ports"), *one;
	yyjson_arr_iter iter;
	VEC(struct port) ports = { 0 };
	struct port port;

	path = arena_printf(r->a, "%.*s.ports", STR_F(path));
	if (!want_list(r, list, path) || absent(list))
		return;
	if (yyjson_arr_size(list) > PORTS_MAX) {
		problem_error(r->p, below(r, path), "has more than %d entries", PORTS_MAX);
		return;
	}
	yyjson_arr_iter_init(list, &iter);
	while ((one = yyjson_arr_iter_next(&iter))) {
		struct str at = arena_printf(r->a, "%.*s[%zu]", STR_F(path), iter.idx - 1);

		if (read_port(r, one, &port, at) && str_has_prefix(port.name, r->port_prefix))
			*vec_push(r->a, &ports) = port;
	}
	ret->ports = ports.v;
	ret->n_ports = ports.n;
}

static void check_name(struct template_reader *r, struct str name, struct str path)
{
	path = arena_printf(r->a, "%.*s.name", STR_F(path));
	if (!name.n) {
		problem_error(r->p, below(r, path), "a container needs a name");
		return;
	}
	if (!str_is_dns_label(name, false))
		problem_error(r->p, below(r, path),
		              "must be a DNS label (lower case letters, digits, '-', at most 63), found \"%.*s\"",
		              STR_F(text_shown(name, r->a)));
	for (size_t i = 0; i < r->containers.n; i++)
		if (str_eq(r->containers.v[i].name, name)) {
			problem_error(r->p, below(r, path), "there is another container named \"%.*s\"",
			              STR_F(text_shown(name, r->a)));
			return;
		}
}

static void read_container(struct template_reader *r, yyjson_val *val, bool init, struct str path)
{
	struct template_container c = { .name = json_str(json_get(val, "name")), .init = init };

	if (!yyjson_is_obj(val)) {
		problem_error(r->p, below(r, path), "must be an object, found %s", json_type_name(val));
		return;
	}
	check_name(r, c.name, path);
	if (!str_trim(json_str(json_get(val, "image"))).n)
		problem_error(r->p, below(r, arena_printf(r->a, "%.*s.image", STR_F(path))),
		              "a container needs an image");
	read_env(r, val, path);
	read_ports(r, val, &c, path);
	r->role->probed |= yyjson_is_obj(json_get(val, "readinessProbe"));
	*vec_push(r->a, &r->containers) = c;
}

static void read_containers(struct template_reader *r, yyjson_val *spec, const char *key, bool init)
{
	yyjson_val *list = json_get(spec, key), *one;
	yyjson_arr_iter iter;

	if (!want_list(r, list, str_c(key)))
		return;
	if (yyjson_arr_size(list) > CONTAINERS_MAX) {
		problem_error(r->p, below(r, str_c(key)), "has more than %d containers", CONTAINERS_MAX);
		return;
	}
	if (!init && yyjson_arr_size(list) == 0) {
		problem_error(r->p, below(r, str_c(key)), "must have at least one container");
		return;
	}
	if (absent(list))
		return;
	yyjson_arr_iter_init(list, &iter);
	while ((one = yyjson_arr_iter_next(&iter)))
		read_container(r, one, init, arena_printf(r->a, "%s[%zu]", key, iter.idx - 1));
}

static bool matches(const struct role *role, struct str name, size_t i)
{
	switch (role->match) {
	case MATCH_NAME:
		return str_eq(name, role->match_text);
	case MATCH_PREFIX:
		return str_has_prefix(name, role->match_text);
	case MATCH_FIRST:
		return i == 0;
	}
	BUG("container match %d", (int)role->match);
}

static void mark_counting(struct template_reader *r)
{
	struct str *names = arena_array(r->a, struct str, r->containers.n);
	size_t n = 0, counting = 0;

	for (size_t i = 0; i < r->containers.n; i++) {
		struct template_container *c = &r->containers.v[i];

		if (c->init)
			continue;
		c->counts = matches(r->role, c->name, n);
		counting += c->counts;
		names[n++] = text_shown(c->name, r->a);
	}
	if (n == 1) {
		r->containers.v[r->containers.n - 1].counts = true;
	} else if (n && !counting) {
		problem_error(r->p, below(r, STR("containers")),
		              "none is named \"%.*s%s\", so no container's exit code would count; there are %.*s",
		              STR_F(r->role->match_text), r->role->match == MATCH_PREFIX ? "*" : "",
		              STR_F(text_list(names, MIN(n, (size_t)4), r->a)));
	}
}

/* One more port of the service. A pair that is there already is dropped. */
static void add_port(struct template_reader *r, struct str name, int32_t number, size_t owner)
{
	for (size_t i = 0; i < r->ports.n; i++) {
		const struct port *other = &r->ports.v[i];
		bool same_name = str_eq(other->name, name), same_number = other->number == number;

		if (same_name && same_number && r->owners.v[i] == owner)
			return;
		if (same_number && r->port_prefix.n) {
			problem_error(r->p, below(r, STR("containers")),
			              "\"%.*s\" and \"%.*s\" both have port %d; a service can have it once",
			              STR_F(r->containers.v[r->owners.v[i]].name), STR_F(r->containers.v[owner].name),
			              number);
			return;
		}
		if (same_name || same_number) {
			problem_error(r->p, place_path(r->doc->at, STR("ports"), r->a),
			              "ports \"%.*s\" (%d) and \"%.*s\" (%d) differ in only one of name and number",
			              STR_F(text_shown(other->name, r->a)), other->number,
			              STR_F(text_shown(name, r->a)), number);
			return;
		}
	}
	*vec_push(r->a, &r->ports) = (struct port){ name, number };
	*vec_push(r->a, &r->owners) = owner;
}

/* With a prefix the service has the ports of the containers that count; others have none. */
static void collect_ports(struct template_reader *r)
{
	for (size_t i = 0; i < r->containers.n; i++) {
		struct template_container *c = &r->containers.v[i];

		if (!c->counts)
			c->n_ports = 0;
		for (size_t k = 0; k < c->n_ports; k++)
			add_port(r, arena_printf(r->a, "%.*s%d", STR_F(r->port_prefix), c->ports[k].number),
			         c->ports[k].number, i);
	}
}

/* Of what the kind says of the role's template. */
static struct policy_place template_place(const struct template_reader *r, const char *key)
{
	return (struct policy_place){ .path = place_path(r->doc->at, str_c(key), r->a), .who = r->doc->at.who };
}

static void list_ports(struct template_reader *r, yyjson_val *list)
{
	struct decode d = { r->p, template_place(r, "ports"), true, true };
	yyjson_arr_iter iter;
	yyjson_val *one;

	if (yyjson_arr_size(list) > PORTS_MAX) {
		problem_error(r->p, d.at.path, "has more than %d entries", PORTS_MAX);
		return;
	}
	yyjson_arr_iter_init(list, &iter);
	while ((one = yyjson_arr_iter_next(&iter))) {
		struct port_doc port = { 0 };
		size_t errors = r->p->errors;

		decode_object(&d, &port_table, one, &port, NULL);
		if (r->p->errors > errors)
			continue;
		if (!port.number || !str_is_dns_label(port.name, false))
			problem_error(r->p, d.at.path, "a port needs a name (a DNS label) and a number");
		else
			add_port(r, port.name, port.number, 0);
	}
}

static void read_match(struct template_reader *r)
{
	struct decode d = { r->p, template_place(r, "containers"), true, true };
	struct match m = { 0 };

	if (r->doc->containers)
		decode_object(&d, &match_table, r->doc->containers, &m, NULL);
	r->role->match = m.name.n ? MATCH_NAME : m.prefix.n ? MATCH_PREFIX : MATCH_FIRST;
	r->role->match_text = m.name.n ? m.name : m.prefix;
}

static void read_port_prefix(struct template_reader *r)
{
	struct decode d = { r->p, template_place(r, "ports"), true, true };
	struct port_doc doc = { 0 };

	if (!r->doc->ports || yyjson_is_arr(r->doc->ports))
		return;
	decode_object(&d, &prefix_table, r->doc->ports, &doc, NULL);
	r->port_prefix = doc.prefix;
}

/* It is not kept: what nobody would understand must not pass as one of the three. */
static void check_restart_policy(struct template_reader *r, yyjson_val *val)
{
	static const char *const known[] = { "", "Always", "OnFailure", "Never" };
	struct str path = below(r, STR("restartPolicy")), said = json_str(val);

	if (absent(val))
		return;
	if (!yyjson_is_str(val)) {
		problem_error(r->p, path, "must be Always, OnFailure or Never, found %s", json_type_name(val));
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(said, str_c(known[i])))
			return;
	problem_error(r->p, path, "must be Always, OnFailure or Never, found \"%.*s\"", STR_F(text_shown(said, r->a)));
}

static bool read_spec(struct template_reader *r)
{
	struct str path = place_path(r->doc->at, STR("template"), r->a);
	yyjson_val *spec = json_get(r->role->template, "spec");

	if (absent(r->role->template)) {
		problem_error(r->p, path, "is missing; it must be a pod template with spec.containers");
		return false;
	}
	r->spec = path;
	if (!yyjson_is_obj(r->role->template)) {
		problem_error(r->p, below(r, STR_NONE), "must be an object, found %s",
		              json_type_name(r->role->template));
		return false;
	}
	r->spec = arena_printf(r->a, "%.*s.spec", STR_F(path));
	if (!yyjson_is_obj(spec)) {
		problem_error(r->p, below(r, STR_NONE), "must be an object with containers, found %s",
		              spec ? json_type_name(spec) : "nothing");
		return false;
	}
	check_restart_policy(r, json_get(spec, "restartPolicy"));
	read_containers(r, spec, "initContainers", true);
	read_containers(r, spec, "containers", false);
	r->role->tolerations = tolerations_read(json_get(spec, "tolerations"));
	return true;
}

void template_read(struct role_doc *doc, struct problems *p)
{
	struct template_reader r = { .doc = doc, .role = &doc->role, .p = p, .a = p->arena };

	read_match(&r);
	read_port_prefix(&r);
	if (read_spec(&r))
		mark_counting(&r);
	if (r.port_prefix.n)
		collect_ports(&r);
	if (doc->ports && yyjson_is_arr(doc->ports))
		list_ports(&r, doc->ports);
	doc->role.containers = r.containers.v;
	doc->role.n_containers = r.containers.n;
	doc->role.ports = r.ports.v;
	doc->role.n_ports = r.ports.n;
}
