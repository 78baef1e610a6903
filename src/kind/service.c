/* The service of one replica: its name in the cluster. Headless, and there before the pod is ready. */
#include "kind/companion.h"
#include "kind/table.h"

enum { SERVICE_PORTS_MAX = 100 };

struct service_port {
	struct str name;
	int64_t port, target; /* target 0: the same */
};

struct service_say {
	struct pairs labels;
	struct str type; /* empty: headless */
	VEC(struct service_port) ports;
	bool own_ports;
	bool ready_only; /* for people: nobody is led to what does not answer yet */
};

static const struct table_key service_keys[] = {
	{ "labels", LUA_TTABLE, false },
	{ "type", LUA_TSTRING, false },
	{ "ports", LUA_TTABLE, false },
};

static const struct table_key port_keys[] = {
	{ "name", LUA_TSTRING, true },
	{ "port", LUA_TNUMBER, true },
	{ "target", LUA_TNUMBER, false },
};

static int64_t int_field(lua_State *L, const char *key)
{
	int64_t n = table_get(L, key) == LUA_TNUMBER ? lua_tointeger(L, -1) : 0;

	lua_pop(L, 1);
	return n;
}

static bool read_ports(struct service_say *s, struct kind_job *kj, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	bool ok = true;

	s->own_ports = true;
	for (lua_Integer i = 1; ok && i <= SERVICE_PORTS_MAX && lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		ok = lua_type(L, -1) == LUA_TTABLE
		             ? table_check(L, port_keys, ARRAY_LEN(port_keys), 0, STR("service.ports"), e) ||
		                       kind_blame(kj, e, "service")
		             : kind_refuse(kj, e, "service", "must give ports as a list of {name, port, target}");
		if (ok)
			*vec_push(&kj->scratch, &s->ports) =
				(struct service_port){ value_field_str(L, -1, "name"), int_field(L, "port"),
				                       int_field(L, "target") };
		lua_pop(L, 1);
	}
	return ok;
}

static bool read_service(struct service_say *s, struct kind_job *kj, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;
	bool ok = true;

	if (lua_type(L, -1) == LUA_TNIL)
		return true;
	if (lua_type(L, -1) != LUA_TTABLE)
		return kind_refuse(kj, e, "service", "must return a table, it returned a %s", luaL_typename(L, -1));
	if (!table_check(L, service_keys, ARRAY_LEN(service_keys), 0, STR("service"), e))
		return kind_blame(kj, e, "service");
	if (table_get(L, "labels") != LUA_TNIL)
		ok = kind_read_labels(kj, &s->labels, "service", e);
	lua_settop(L, 1);
	if (ok && table_get(L, "ports") != LUA_TNIL)
		ok = read_ports(s, kj, e);
	lua_settop(L, 1);
	s->type = value_field_str(L, -1, "type");
	return ok;
}

/* An address of its own, so that port 80 leads to where it listens. */
static void say_companion(struct service_say *s, struct kind_job *kj, const struct role *role)
{
	kind_companion_labels(kj, role->companion, &s->labels);
	s->type = str_c(service_type_name(role->companion->service));
	s->own_ports = s->ready_only = true;
	*vec_push(&kj->scratch, &s->ports) = (struct service_port){ role->ports[0].name, role->ports[0].number,
		                                                    companion_type(role->companion->id)->port };
}

/* For a kind without a service(), the labels are ours alone. */
static bool ask_kind(struct service_say *s, struct kind_job *kj, size_t role, int32_t index, struct err *e)
{
	lua_State *L = kj->kinds->sb.L;

	ASSERT(lua_gettop(L) == 0);
	arena_reset(&kj->scratch);
	if (kj->job->roles[role].companion) {
		say_companion(s, kj, &kj->job->roles[role]);
		return true;
	}
	if (kj->file->fns[FN_SERVICE] == LUA_NOREF)
		return true;
	return kind_once(kj, e) && kind_call(kj, FN_SERVICE, kind_push_call(kj, FN_SERVICE, role, index), 1, e) &&
	       read_service(s, kj, e);
}

static void put_ports(const struct service_say *s, const struct role *role, struct buf *out)
{
	size_t n = s->own_ports ? s->ports.n : role->n_ports;

	if (n == 0)
		return;
	buf_put(out, STR(",\"ports\":["));
	for (size_t i = 0; i < n; i++) {
		buf_put(out, i ? STR(",{\"name\":") : STR("{\"name\":"));
		buf_json_str(out, s->own_ports ? s->ports.v[i].name : role->ports[i].name);
		buf_printf(out, ",\"port\":%lld", s->own_ports ? (long long)s->ports.v[i].port : role->ports[i].number);
		if (s->own_ports && s->ports.v[i].target)
			buf_printf(out, ",\"targetPort\":%lld", (long long)s->ports.v[i].target);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

static void put_service(const struct kind_job *kj, const struct service_say *s, struct str name, size_t r,
                        int32_t index, struct buf *out)
{
	const struct role *role = &kj->job->roles[r];
	bool first = true;

	buf_put(out, STR("{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":"));
	buf_json_str(out, name);
	buf_put(out, STR(",\"namespace\":"));
	buf_json_str(out, kj->job->ns);
	buf_put(out, STR(",\"labels\":{"));
	for (size_t i = 0; i < s->labels.list.n; i++)
		if (!str_has_prefix(s->labels.list.v[i].name, STR(LABEL_DOMAIN)))
			kind_put_label(out, &first, s->labels.list.v[i].name, pair_text(&s->labels.list.v[i]));
	kind_put_own_labels(kj, role, index, 0, out, &first);
	buf_putc(out, '}');
	kind_put_owner(kj, out);
	buf_put(out, STR("},\"spec\":{"));
	if (s->type.n) {
		buf_put(out, STR("\"type\":"));
		buf_json_str(out, s->type);
	} else {
		buf_put(out, STR("\"clusterIP\":\"None\""));
	}
	if (!s->ready_only)
		buf_put(out, STR(",\"publishNotReadyAddresses\":true"));
	buf_put(out, STR(",\"selector\":{"));
	first = true;
	kind_put_label(out, &first, STR(LABEL_UID), kj->job->uid);
	kind_put_label(out, &first, STR(LABEL_ROLE), role->name);
	buf_printf(out, ",\"" LABEL_INDEX "\":\"%d\"}", index);
	put_ports(s, role, out);
	buf_put(out, STR("}}"));
}

bool kind_service(struct kind_job *kj, size_t role, int32_t index, struct buf *out, struct err *e)
{
	struct service_say say = { 0 };
	struct kind_names names;
	bool ok;

	if (kj->job->problems.errors)
		return err_set(e, ERR_INVALID, "the job is invalid");
	ASSERT(role < kj->job->n_roles && kj->job->roles[role].service);
	if (!kind_names(kj, role, index, &names, e))
		return false;
	ok = ask_kind(&say, kj, role, index, e);
	if (ok)
		put_service(kj, &say, names.service, role, index, out);
	lua_settop(kj->kinds->sb.L, 0);
	return ok && kind_found_room(out, "service", names.service, e);
}
