/* The router of a cluster and its link to the machine. */
#include "base/file.h"
#include "local/net/forward.h"
#include "local/net/internal.h"
#include "local/net/nat.h"
#include "local/net/ns.h"
#include "local/net/route.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { CHOICES = 8 };

void net_name(char name[LINK_NAME_MAX], struct str id)
{
	snprintf(name, LINK_NAME_MAX, "dlj-%06x", (unsigned)(str_hash(id) & 0xffffff));
}

void net_mark(char mark[MARK_MAX], struct str id)
{
	struct str text = id;

	text.n = MIN(text.n, (size_t)MARK_MAX - 40);
	snprintf(mark, MARK_MAX, "dl-operator cluster %.*s", STR_F(text));
}

/* ---- the subnet, kept beside the addresses ---- */

static bool read_subnet(const struct net *n, uint32_t *ret)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct str text;

	return file_read(&text, arena_printf(&a, "%s/subnet", n->folder).p, &a, NULL) == FILE_READ &&
	       ip_parse(str_trim(text), ret) && (*ret & (SUBNET_SIZE - 1)) == 0;
}

static bool write_subnet(const struct net *n, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct str path = arena_printf(&a, "%s/subnet", n->folder), new = arena_printf(&a, "%s/subnet.new", n->folder);
	char text[IP_TEXT + 1];
	bool ok;
	int fd;

	ip_text(text, n->subnet);
	fd = open(new.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0 && close(fd) < 0)
		ok = false;
	return (ok && rename(new.p, path.p) == 0) || err_set(e, ERR_IO, "%s: %s", path.p, strerror(errno));
}

/* ---- inside the router ---- */

static bool open_inside(void *cookie, struct err *e)
{
	struct net *n = cookie;

	return nl_open(&n->nl, NETLINK_ROUTE, e);
}

static bool set_forwarding(void *cookie, struct err *e)
{
	(void)cookie;
	(void)ns_sysctl("net/ipv6/conf/default/disable_ipv6", "1", NULL);
	/* A pod's packets come from where they must, by the way that the links are made. */
	(void)ns_sysctl("net/ipv4/conf/all/rp_filter", "0", NULL);
	(void)ns_sysctl("net/ipv4/conf/default/rp_filter", "0", NULL);
	return ns_sysctl("net/ipv4/ip_forward", "1", e);
}

static bool masquerade_inside(void *cookie, struct err *e)
{
	struct net *n = cookie;

	return nat_add(n->name, n->subnet, SUBNET_PREFIX, e);
}

static bool set_router(struct net *n, struct err *e)
{
	struct nl_msg m = { .n = 0 };
	int code;

	if (!ns_inside(n->router, set_forwarding, n, e))
		return err_wrap(e, "the router");
	link_up(&m, LINK_LO);
	link_address(&m, LINK_LO, n->subnet + SUBNET_ROUTER, 32);
	if (!nl_talk(&n->nl, &m, &code, e) && code != EEXIST)
		return err_wrap(e, "the router");
	err_release(e);
	return true;
}

/* ---- to the machine ---- */

bool router_remove_link(const char *name, const char *mark, struct err *e)
{
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };
	struct link_seen seen = { .index = 0 };
	int code = 0;
	bool ok = nl_open(&nl, NETLINK_ROUTE, e) && link_find(&nl, name, &seen, e);

	if (ok && seen.index != 0 && strcmp(seen.mark, mark) == 0) {
		link_delete(&m, name);
		ok = nl_talk(&nl, &m, &code, e) || code == ENODEV;
	}
	nl_close(&nl);
	if (ok && e)
		err_release(e);
	return ok || err_wrap(e, "removing the link %s", name);
}

/* The pair of links between the machine and the router, with *CODE EEXIST if somebody has such a route by now. */
static bool make_uplink(struct net *n, struct nl *nl, int *code, struct err *e)
{
	uint32_t router = n->subnet + SUBNET_ROUTER, machine = n->subnet + SUBNET_MACHINE;
	uint8_t router_mac[LINK_MAC], machine_mac[LINK_MAC];
	struct link_seen seen = { .index = 0 };
	struct nl_msg m = { .n = 0 };

	int here = ns_own(e);
	bool made;

	*code = EIO;
	link_mac(router_mac, router, 1);
	link_mac(machine_mac, machine, 1);
	link_veth(&m, &(struct link_end){ "up0", LINK_ROUTER_UP, router_mac, -1 },
	          &(struct link_end){ n->name, 0, machine_mac, here }, n->mtu);
	made = here >= 0 && nl_talk(&n->nl, &m, code, e);
	if (here >= 0)
		close(here);
	/* A name that is taken by somebody else is not a route that is. */
	if (!made && *code == EEXIST)
		*code = EBUSY;
	if (!made)
		return false;
	m.n = 0;
	link_mark(&m, n->name, n->mark);
	if (!nl_talk(nl, &m, code, e) || !link_find(nl, n->name, &seen, e))
		return false;
	m.n = 0;
	link_up(&m, seen.index);
	link_address(&m, seen.index, machine, 32);
	link_neighbour(&m, seen.index, router, router_mac);
	if (!nl_talk(nl, &m, code, e))
		return false;
	m.n = 0;
	link_route(&m, seen.index, n->subnet, SUBNET_PREFIX, router, machine);
	if (!nl_talk(nl, &m, code, e))
		return false;
	m.n = 0;
	link_neighbour(&m, LINK_ROUTER_UP, machine, machine_mac);
	link_route(&m, LINK_ROUTER_UP, 0, 0, machine, 0);
	return nl_talk(&n->nl, &m, code, e);
}

/* The way beyond the machine. */
static bool forward(const struct net *n, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct str now;

	if (!nat_add(n->name, n->subnet, SUBNET_PREFIX, e) || !forward_allow(n->name, e))
		return false;
	if (file_read(&now, "/proc/sys/net/ipv4/ip_forward", &a, NULL) == FILE_READ && str_has_prefix(now, STR("1")))
		return true;
	return ns_sysctl("net/ipv4/ip_forward", "1", e);
}

/* Chooses a subnet that is free; with a link to the machine it is tried at once, since another cluster may choose the
   same one at the same moment. */
static bool settle(struct net *n, struct net_world *w, const struct route_list *routes, struct nl *nl, struct err *e)
{
	uint32_t kept;
	bool again = read_subnet(n, &kept);
	int code = 0;

	for (size_t i = 0; i < CHOICES; i++) {
		struct subnet_route all = { 0, 0 };

		/* The one of before first, if it is free. */
		if (again && i == 0)
			n->subnet = kept;
		else if (!subnet_choose(&n->subnet, routes->routes.v ? routes->routes.v : &all, routes->routes.n,
		                        again ? i - 1 : i))
			return err_set(e, ERR_LIMIT, "no subnet is free between 10.201.0.0 and 10.254.255.255");
		if (n->kind != NET_ROOT || make_uplink(n, nl, &code, e))
			return true;
		router_remove_link(n->name, n->mark, NULL);
		if (code != EEXIST) {
			net_note(w, "pods reach each other but not the machine or beyond (%s)", err_msg(e));
			err_release(e);
			n->machine = false;
			return true;
		}
		err_release(e);
	}
	return err_set(e, ERR_IO, "no free subnet: all that were tried are in use");
}

static bool set_up_new(struct net *n, struct net_world *w, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct route_list routes = { .mtu = 0 };
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };
	bool ok;

	n->machine = n->kind == NET_ROOT;
	/* What a killed one of this cluster left: from the router's side whatever it is called, since all of it is
	 * ours. */
	link_delete(&m, "up0");
	(void)nl_talk(&n->nl, &m, NULL, NULL);
	ok = (n->kind != NET_ROOT || router_remove_link(n->name, n->mark, e)) && nl_open(&nl, NETLINK_ROUTE, e) &&
	     route_list(&nl, &routes, &a, e);
	if (ok) {
		n->mtu = routes.mtu;
		ok = settle(n, w, &routes, &nl, e) && set_router(n, e) && write_subnet(n, e);
	}
	nl_close(&nl);
	if (!ok)
		return false;
	if (n->kind == NET_USER ? !ns_inside(n->router, masquerade_inside, n, e) : n->machine && !forward(n, e)) {
		net_note(w, "pods reach each other%s but nothing beyond (%s)", n->machine ? " and the machine" : "",
		         err_msg(e));
		err_release(e);
	}
	return true;
}

/* All of it was there before us. */
static bool find_again(struct net *n, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct route_list routes = { .mtu = 0 };
	struct link_seen seen = { .index = 0 };
	struct nl nl = NL_INIT;
	bool ok =
		nl_open(&nl, NETLINK_ROUTE, e) && route_list(&nl, &routes, &a, e) && link_find(&nl, n->name, &seen, e);

	nl_close(&nl);
	if (!ok)
		return false;
	n->mtu = routes.mtu;
	n->machine = n->kind == NET_ROOT && seen.index != 0 && strcmp(seen.mark, n->mark) == 0;
	return true;
}

bool router_set_up(struct net *n, struct net_world *w, struct err *e)
{
	struct link_seen seen = { .index = 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)w->holder);
	n->router = open(path, O_RDONLY | O_CLOEXEC);
	if (n->router < 0)
		return err_set(e, ERR_IO, "the router: %s", strerror(errno));
	if (!ns_inside(n->router, open_inside, n, e))
		return false;
	/* One that was killed while it set the router up has left no subnet, or no link: then it is done anew. */
	if (w->adopted && read_subnet(n, &n->subnet) &&
	    (n->kind != NET_ROOT || link_find(&n->nl, "up0", &seen, NULL)) && (n->kind != NET_ROOT || seen.index != 0))
		return find_again(n, e);
	return set_up_new(n, w, e);
}
