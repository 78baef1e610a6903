#include "local/runner/hosts.h"

#include "base/list.h"
#include "local/runner/pods.h"

struct host_service {
	struct host_service *prev, *next;
	char *key;            /* namespace/name */
	yyjson_doc *selector; /* {"selector": …} */
};

static void drop_service(struct runner *r, struct host_service *s)
{
	map_del(&r->services, str_c(s->key));
	deque_drop(&r->first_service, &r->last_service, s);
	yyjson_doc_free(s->selector);
	free(s->key);
	free(s);
}

void hosts_free(struct runner *r)
{
	while (r->first_service)
		drop_service(r, r->first_service);
	map_release(&r->services);
}

void hosts_take_service(struct runner *r, yyjson_doc *object, enum store_change change)
{
	yyjson_val *meta = json_get(yyjson_doc_get_root(object), "metadata");
	struct str key = arena_printf(&r->round, "%.*s/%.*s", STR_F(json_str(json_get(meta, "namespace"))),
	                              STR_F(json_str(json_get(meta, "name"))));
	struct host_service *s = map_get(&r->services, key);

	r->hosts_due = true;
	if (change == STORE_DELETED) {
		if (s)
			drop_service(r, s);
		yyjson_doc_free(object);
		return;
	}
	if (!s) {
		s = xcalloc(1, sizeof(*s));
		s->key = xstrndup(key.p, key.n);
		deque_append(&r->first_service, &r->last_service, s);
		map_put(&r->services, str_c(s->key), s);
	}
	yyjson_doc_free(s->selector);
	s->selector = doc_of_part("selector", json_at(yyjson_doc_get_root(object), "spec", "selector", NULL));
	yyjson_doc_free(object);
}

static const struct net_label *labels_of(struct arena *a, yyjson_val *map, size_t *ret_n)
{
	struct net_label *all = arena_array(a, struct net_label, yyjson_obj_size(map));
	yyjson_val *key, *value;
	size_t i, max;

	*ret_n = 0;
	yyjson_obj_foreach(map, i, max, key, value)
	{
		all[(*ret_n)++] = (struct net_label){ json_str(key), json_str(value) };
	}
	return all;
}

static const struct net_alias *aliases_of(struct arena *a, yyjson_val *list, size_t *ret_n)
{
	VEC(struct net_alias) all = { 0 };
	yyjson_val *one, *name;
	size_t i, k, max, many;

	yyjson_arr_foreach(list, i, max, one){ yyjson_arr_foreach(json_get(one, "hostnames"), k, many, name){
		*vec_push(a, &all) = (struct net_alias){ json_str(json_get(one, "ip")), json_str(name) };
}
}
*ret_n = all.n;
return all.v;
}

static struct net_host_pod host_of(struct runner *r, const struct runner_pod *p)
{
	yyjson_val *object = pod_object(p), *spec = json_get(object, "spec");
	struct net_host_pod h = {
		.ns = str_c(p->ns),
		.name = str_c(p->name),
		.ip = str_c(p->ip),
		.hostname = json_str(json_get(spec, "hostname")),
		.subdomain = json_str(json_get(spec, "subdomain")),
	};

	h.labels = labels_of(&r->round, json_at(object, "metadata", "labels", NULL), &h.n_labels);
	h.aliases = aliases_of(&r->round, json_get(spec, "hostAliases"), &h.n_aliases);
	return h;
}

bool hosts_update(struct runner *r, struct err *e)
{
	VEC(struct net_host_pod) pods = { 0 };
	VEC(struct net_host_service) services = { 0 };

	for (const struct runner_pod *p = r->first_pod; p; p = p->next)
		if (p->has_ip)
			*vec_push(&r->round, &pods) = host_of(r, p);
	for (const struct host_service *s = r->first_service; s; s = s->next) {
		struct net_host_service h = { .name = str_c(s->key) };

		str_next(&h.name, '/', &h.ns);
		h.selector =
			labels_of(&r->round, json_get(yyjson_doc_get_root(s->selector), "selector"), &h.n_selector);
		*vec_push(&r->round, &services) = h;
	}
	r->hosts_due = false;
	return net_hosts_update(r->c.net, pods.v, pods.n, services.v, services.n, e);
}
