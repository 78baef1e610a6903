#include "local/net/route.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>

enum { MTU_MOST = 1500, MTU_LEAST = 1280 };

struct gather {
	struct route_list *ret;
	struct arena *a;
};

static bool each_route(void *cookie, const struct nlmsghdr *h)
{
	struct gather *g = cookie;
	const struct rtmsg *r = (const struct rtmsg *)(const void *)((const char *)h + NLMSG_HDRLEN);
	const struct nlattr *dst = nl_find(h, sizeof(*r), RTA_DST);
	uint32_t ip;

	if (h->nlmsg_type != RTM_NEWROUTE || r->rtm_family != AF_INET || !dst || nl_size(dst) != sizeof(ip))
		return true;
	memcpy(&ip, nl_data(dst), sizeof(ip));
	*vec_push(g->a, &g->ret->routes) = (struct subnet_route){ ntohl(ip), r->rtm_dst_len };
	return true;
}

static bool each_link(void *cookie, const struct nlmsghdr *h)
{
	struct gather *g = cookie;
	const struct ifinfomsg *i = (const struct ifinfomsg *)(const void *)((const char *)h + NLMSG_HDRLEN);
	const struct nlattr *mtu = nl_find(h, sizeof(*i), IFLA_MTU);
	uint32_t v;

	if (h->nlmsg_type != RTM_NEWLINK || !(i->ifi_flags & IFF_UP) || i->ifi_flags & IFF_LOOPBACK || !mtu ||
	    nl_size(mtu) != sizeof(v))
		return true;
	memcpy(&v, nl_data(mtu), sizeof(v));
	g->ret->mtu = MIN(g->ret->mtu, MAX(v, (uint32_t)MTU_LEAST));
	return true;
}

bool route_list(struct nl *nl, struct route_list *ret, struct arena *a, struct err *e)
{
	const struct rtmsg r = { .rtm_family = AF_INET };
	const struct ifinfomsg i = { .ifi_family = AF_UNSPEC };
	struct gather g = { ret, a };
	struct nl_msg m = { .n = 0 };

	*ret = (struct route_list){ .mtu = MTU_MOST };
	nl_begin(&m, RTM_GETROUTE, NLM_F_DUMP, &r, sizeof(r));
	if (!nl_dump(nl, &m, each_route, &g, e))
		return err_wrap(e, "routes");
	m.n = 0;
	nl_begin(&m, RTM_GETLINK, NLM_F_DUMP, &i, sizeof(i));
	return nl_dump(nl, &m, each_link, &g, e) || err_wrap(e, "links");
}
