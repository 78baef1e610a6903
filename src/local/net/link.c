#include "local/net/link.h"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>

enum { MAKE = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL };

static void end_attrs(struct nl_msg *m, const struct link_end *end, uint32_t mtu)
{
	nl_put_name(m, IFLA_IFNAME, end->name);
	nl_put_u32(m, IFLA_MTU, mtu);
	if (end->mac)
		nl_put(m, IFLA_ADDRESS, end->mac, LINK_MAC);
	if (end->ns >= 0)
		nl_put_u32(m, IFLA_NET_NS_FD, (uint32_t)end->ns);
}

void link_veth(struct nl_msg *m, const struct link_end *a, const struct link_end *b, uint32_t mtu)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	size_t link, data, peer;

	info.ifi_index = a->index;
	nl_begin(m, RTM_NEWLINK, MAKE, &info, sizeof(info));
	end_attrs(m, a, mtu);
	link = nl_nest(m, IFLA_LINKINFO);
	nl_put_name(m, IFLA_INFO_KIND, "veth");
	data = nl_nest(m, IFLA_INFO_DATA);
	peer = nl_nest(m, VETH_INFO_PEER);
	/* It cannot be up before it has its other end. */
	info = (struct ifinfomsg){ .ifi_family = AF_UNSPEC, .ifi_index = b->index };
	nl_put_raw(m, &info, sizeof(info));
	end_attrs(m, b, mtu);
	nl_nest_end(m, peer);
	nl_nest_end(m, data);
	nl_nest_end(m, link);
}

void link_delete(struct nl_msg *m, const char *name)
{
	const struct ifinfomsg info = { .ifi_family = AF_UNSPEC };

	nl_begin(m, RTM_DELLINK, NLM_F_ACK, &info, sizeof(info));
	nl_put_name(m, IFLA_IFNAME, name);
}

void link_up(struct nl_msg *m, int index)
{
	const struct ifinfomsg info = {
		.ifi_family = AF_UNSPEC, .ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP
	};

	nl_begin(m, RTM_NEWLINK, NLM_F_ACK, &info, sizeof(info));
}

void link_mark(struct nl_msg *m, const char *name, const char *mark)
{
	const struct ifinfomsg info = { .ifi_family = AF_UNSPEC };

	nl_begin(m, RTM_SETLINK, NLM_F_ACK, &info, sizeof(info));
	nl_put_name(m, IFLA_IFNAME, name);
	nl_put_name(m, IFLA_IFALIAS, mark);
}

static void put_ip(struct nl_msg *m, uint16_t type, uint32_t ip)
{
	nl_put_u32(m, type, htonl(ip));
}

void link_address(struct nl_msg *m, int index, uint32_t ip, unsigned prefix)
{
	const struct ifaddrmsg info = { .ifa_family = AF_INET,
		                        .ifa_prefixlen = (uint8_t)prefix,
		                        .ifa_index = (uint32_t)index };

	nl_begin(m, RTM_NEWADDR, MAKE, &info, sizeof(info));
	put_ip(m, IFA_LOCAL, ip);
	put_ip(m, IFA_ADDRESS, ip);
	nl_put_u32(m, IFA_FLAGS, IFA_F_NOPREFIXROUTE);
}

void link_neighbour(struct nl_msg *m, int index, uint32_t ip, const uint8_t *mac)
{
	const struct ndmsg info = { .ndm_family = AF_INET, .ndm_ifindex = index, .ndm_state = NUD_PERMANENT };

	nl_begin(m, RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &info, sizeof(info));
	put_ip(m, NDA_DST, ip);
	nl_put(m, NDA_LLADDR, mac, LINK_MAC);
}

void link_route(struct nl_msg *m, int index, uint32_t dst, unsigned prefix, uint32_t via, uint32_t src)
{
	const struct rtmsg info = {
		.rtm_family = AF_INET,
		.rtm_dst_len = (uint8_t)prefix,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = via ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
		.rtm_type = RTN_UNICAST,
		.rtm_flags = via ? RTNH_F_ONLINK : 0,
	};

	nl_begin(m, RTM_NEWROUTE, MAKE, &info, sizeof(info));
	if (prefix > 0)
		put_ip(m, RTA_DST, dst);
	if (via)
		put_ip(m, RTA_GATEWAY, via);
	if (src)
		put_ip(m, RTA_PREFSRC, src);
	nl_put_u32(m, RTA_OIF, (uint32_t)index);
}

struct link_search {
	const char *name;
	struct link_seen *ret;
};

static void take_text(char *to, size_t size, const struct nlattr *a)
{
	size_t n = a ? MIN(nl_size(a), size - 1) : 0;

	if (n > 0)
		memcpy(to, nl_data(a), n);
	to[n] = 0;
}

static bool compare_link(void *cookie, const struct nlmsghdr *h)
{
	struct link_search *s = cookie;
	const struct ifinfomsg *info = (const struct ifinfomsg *)(const void *)((const char *)h + NLMSG_HDRLEN);
	struct link_seen seen = { .index = info->ifi_index };

	if (h->nlmsg_type != RTM_NEWLINK)
		return true;
	take_text(seen.name, sizeof(seen.name), nl_find(h, sizeof(*info), IFLA_IFNAME));
	if (strcmp(seen.name, s->name) != 0)
		return true;
	take_text(seen.mark, sizeof(seen.mark), nl_find(h, sizeof(*info), IFLA_IFALIAS));
	*s->ret = seen;
	return false;
}

bool link_find(struct nl *nl, const char *name, struct link_seen *ret, struct err *e)
{
	const struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct link_search s = { name, ret };
	struct nl_msg m = { .n = 0 };

	*ret = (struct link_seen){ 0 };
	nl_begin(&m, RTM_GETLINK, NLM_F_DUMP, &info, sizeof(info));
	return nl_dump(nl, &m, compare_link, &s, e) || err_wrap(e, "links");
}

void link_mac(uint8_t mac[LINK_MAC], uint32_t ip, uint8_t side)
{
	const uint32_t net = htonl(ip);

	mac[0] = 0x0a; /* of our own giving, for one */
	mac[1] = side;
	memcpy(mac + 2, &net, sizeof(net));
}
