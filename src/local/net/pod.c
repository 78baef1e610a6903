/* The network of one pod, and the network as a whole: opened, closed, removed. */
#include "base/file.h"
#include "local/net/internal.h"
#include "local/net/ns.h"

#include <errno.h>
#include <unistd.h>

/* ---- the whole ---- */

bool net_open(struct net **ret, struct net_world *w, const char *folder, struct str id, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct net *n = xcalloc(1, sizeof(*n));
	struct str ours = arena_printf(&a, "%s/net", folder), text;
	bool ok;

	*n = (struct net){ .kind = w->kind, .folder = xstrndup(ours.p, ours.n), .router = -1, .nl = NL_INIT };
	net_name(n->name, id);
	net_mark(n->mark, id);
	if (file_read(&text, "/etc/hosts", &a, NULL) == FILE_READ)
		n->machine_hosts = (struct str){ xstrndup(text.p, text.n), text.n };
	ok = (n->kind == NET_HOST || router_set_up(n, w, e)) &&
	     address_load(&n->addresses, arena_printf(&a, "%s/pods", ours.p).p, n->subnet, e);
	if (!ok) {
		net_close(n);
		return err_wrap(e, "the pods' network");
	}
	*ret = n;
	return true;
}

void net_close(struct net *n)
{
	if (!n)
		return;
	nl_close(&n->nl);
	if (n->router >= 0)
		close(n->router);
	if (n->addresses.folder)
		address_release(&n->addresses);
	arena_release(&n->ports_arena);
	str_free(n->machine_hosts);
	free(n->folder);
	free(n);
}

/* ---- one pod ---- */

static void link_name(char name[LINK_NAME_MAX], uint32_t ip)
{
	snprintf(name, LINK_NAME_MAX, "v%08x", ip);
}

static bool remove_link(struct net *n, uint32_t ip, struct err *e)
{
	char name[LINK_NAME_MAX];
	struct nl_msg m = { .n = 0 };
	int code;

	link_name(name, ip);
	link_delete(&m, name);
	if (nl_talk(&n->nl, &m, &code, e) || code == ENODEV) {
		if (e)
			err_release(e);
		return true;
	}
	return err_wrap(e, "removing the link %s", name);
}

/* In the new namespace, before it has a link. */
static bool prepare_netns(void *cookie, struct err *e)
{
	struct nl *inside = cookie;
	char group[32];

	/* Comforts: where the kernel does not let us, programs see what they would see without. */
	(void)ns_sysctl("net/ipv6/conf/default/disable_ipv6", "1", NULL);
	(void)ns_sysctl("net/ipv4/ip_unprivileged_port_start", "0", NULL);
	snprintf(group, sizeof(group), "%u %u", getegid(), getegid());
	if (!ns_sysctl("net/ipv4/ping_group_range", "0 2147483647", NULL))
		(void)ns_sysctl("net/ipv4/ping_group_range", group, NULL);
	return nl_open(inside, NETLINK_ROUTE, e);
}

/* The pair of links with both its ends, once. */
static bool connect_pod(struct net *n, int ns, uint32_t ip, int *code, struct err *e)
{
	uint8_t pod_mac[LINK_MAC], router_mac[LINK_MAC];
	char name[LINK_NAME_MAX];
	int index = LINK_FIRST_POD + (int)(ip - n->subnet);
	struct nl_msg m = { .n = 0 };

	link_name(name, ip);
	link_mac(pod_mac, ip, 1);
	link_mac(router_mac, ip, 2);
	link_veth(&m, &(struct link_end){ name, index, router_mac, -1 },
	          &(struct link_end){ "eth0", LINK_POD, pod_mac, ns }, n->mtu);
	link_neighbour(&m, index, ip, pod_mac);
	link_route(&m, index, ip, 32, 0, n->subnet + SUBNET_ROUTER);
	return nl_talk(&n->nl, &m, code, e);
}

static bool address_pod(struct net *n, struct nl *inside, uint32_t ip, struct err *e)
{
	uint32_t router = n->subnet + SUBNET_ROUTER;
	uint8_t router_mac[LINK_MAC];
	struct nl_msg m = { .n = 0 };

	link_mac(router_mac, ip, 2);
	link_up(&m, LINK_LO);
	link_up(&m, LINK_POD);
	link_address(&m, LINK_POD, ip, SUBNET_PREFIX);
	link_neighbour(&m, LINK_POD, router, router_mac);
	link_route(&m, LINK_POD, 0, 0, router, ip);
	return nl_talk(inside, &m, NULL, e);
}

static int make_pod(struct net *n, uint32_t ip, struct err *e)
{
	struct nl inside = NL_INIT;
	int code, ns = ns_new(prepare_netns, &inside, e);
	bool ok;

	if (ns < 0)
		return -1;
	ok = connect_pod(n, ns, ip, &code, e);
	/* What was there before under this address is the same pod's, or one's that is gone. */
	if (!ok && code == EEXIST)
		ok = remove_link(n, ip, e) && connect_pod(n, ns, ip, &code, e);
	ok = ok && address_pod(n, &inside, ip, e);
	nl_close(&inside);
	if (ok)
		return ns;
	remove_link(n, ip, NULL);
	close(ns);
	return -1;
}

bool net_pod_add(struct net *n, struct str ns, struct str name, struct str uid, struct net_pod *ret, struct err *e)
{
	const struct net_address *known = address_of(&n->addresses, uid);
	const struct net_address *one;

	if (n->kind == NET_HOST) {
		*ret = (struct net_pod){ .ns = -1, .ip = "127.0.0.1" };
		return true;
	}
	one = address_take(&n->addresses, uid, ns, name, e);
	if (!one)
		return err_wrap(e, "the pod's address");
	ret->ns = make_pod(n, one->ip, e);
	if (ret->ns < 0) {
		if (!known)
			address_drop(&n->addresses, uid, NULL);
		return err_wrap(e, "the pod's network");
	}
	ip_text(ret->ip, one->ip);
	return true;
}

static void give_ports_back(struct net *n, struct str uid)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->ports.n; i++) {
		if (!str_eq(n->ports.v[i].uid, uid))
			n->ports.v[kept++] = n->ports.v[i];
	}
	n->ports.n = kept;
	if (kept == 0) {
		n->ports.v = NULL;
		n->ports.cap = 0;
		arena_release(&n->ports_arena);
	}
}

bool net_pod_remove(struct net *n, struct str uid, struct err *e)
{
	const struct net_address *one = address_of(&n->addresses, uid);

	give_ports_back(n, uid);
	if (!one)
		return true;
	names_forget(n, one->ns, one->name);
	/* The link goes with the namespace. To delete it here would be 30 ms of waiting for the kernel, each time. */
	return address_drop(&n->addresses, uid, e);
}

bool net_pod_ip(const struct net *n, struct str uid, char ip[NET_IP_TEXT])
{
	const struct net_address *one = address_of(&n->addresses, uid);

	if (n->kind == NET_HOST)
		snprintf(ip, NET_IP_TEXT, "127.0.0.1");
	else if (one)
		ip_text(ip, one->ip);
	return n->kind == NET_HOST || one;
}

bool net_pod_next(const struct net *n, size_t *at, struct str *uid, struct str *ns, struct str *name)
{
	while (*at < SUBNET_SIZE) {
		const struct net_address *one = n->addresses.by_ip[(*at)++];

		if (one) {
			*uid = one->uid;
			*ns = one->ns;
			*name = one->name;
			return true;
		}
	}
	return false;
}

bool net_ports_take(struct net *n, struct str uid, const uint16_t *ports, size_t count, struct err *e)
{
	if (n->kind != NET_HOST)
		return true;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < n->ports.n; k++) {
			if (n->ports.v[k].port == ports[i] && !str_eq(n->ports.v[k].uid, uid))
				return err_set(e, ERR_LIMIT,
				               "port %u is taken by the pod with the UID %.*s, and all pods share the "
				               "machine's network",
				               ports[i], STR_F(n->ports.v[k].uid));
		}
	}
	for (size_t i = 0; i < count; i++)
		*vec_push(&n->ports_arena, &n->ports) =
			(struct port_taken){ ports[i], arena_str(&n->ports_arena, uid) };
	return true;
}
