#include "local/net/forward.h"

#include "local/net/nl.h"
#include "local/net/program.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

enum { NAME = 64, PROGRAM_MS = 10000, COPIES_MAX = 8 };

struct chains {
	bool iptables;        /* its chain for forwarded packets is there … */
	bool iptables_drops;  /* … and drops */
	char other[2 * NAME]; /* another table that drops; empty: none */
};

static uint32_t be32(const struct nlattr *a)
{
	uint32_t v = 0;

	if (!a || nl_size(a) != sizeof(v))
		return UINT32_MAX;
	memcpy(&v, nl_data(a), sizeof(v));
	return ntohl(v);
}

static struct str text(const struct nlattr *a)
{
	return a ? (struct str){ nl_data(a), strnlen(nl_data(a), nl_size(a)) } : STR_NONE;
}

static bool each_chain(void *cookie, const struct nlmsghdr *h)
{
	struct chains *c = cookie;
	const struct nfgenmsg *g = (const struct nfgenmsg *)(const void *)((const char *)h + NLMSG_HDRLEN);
	const struct nlattr *hook = nl_find(h, sizeof(*g), NFTA_CHAIN_HOOK);
	struct str table = text(nl_find(h, sizeof(*g), NFTA_CHAIN_TABLE));
	struct str name = text(nl_find(h, sizeof(*g), NFTA_CHAIN_NAME));
	bool drops = be32(nl_find(h, sizeof(*g), NFTA_CHAIN_POLICY)) == NF_DROP;

	if (!hook || (g->nfgen_family != NFPROTO_IPV4 && g->nfgen_family != NFPROTO_INET) ||
	    be32(nl_find_nested(hook, NFTA_HOOK_HOOKNUM)) != NF_INET_FORWARD)
		return true;
	if (g->nfgen_family == NFPROTO_IPV4 && str_eqc(table, "filter") && str_eqc(name, "FORWARD")) {
		c->iptables = true;
		c->iptables_drops = drops;
	} else if (drops && !c->other[0]) {
		snprintf(c->other, sizeof(c->other), "%.*s %.*s", STR_F(str_sub(table, 0, NAME - 1)),
		         STR_F(str_sub(name, 0, NAME - 1)));
	}
	return true;
}

/* Nothing that can be read is nothing that drops. */
static struct chains look_at_chains(void)
{
	const struct nfgenmsg g = { .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0 };
	struct chains c = { .iptables = false };
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };

	nl_begin(&m, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN), NLM_F_DUMP, &g, sizeof(g));
	if (nl_open(&nl, NETLINK_NETFILTER, NULL))
		(void)nl_dump(&nl, &m, each_chain, &c, NULL);
	nl_close(&nl);
	return c;
}

/* Carries out ACTION (-C: is it there? -I: insert, -D: delete) for the rule of what comes in, or of what goes out. */
static bool iptables(const char *path, const char *action, const char *link, bool out)
{
	const char *in_rule[] = { path, "-w", "5", action, "FORWARD", "-i", link, "-j", "ACCEPT", NULL };
	const char *out_rule[] = { path,
		                   "-w",
		                   "5",
		                   action,
		                   "FORWARD",
		                   "-o",
		                   link,
		                   "-m",
		                   "conntrack",
		                   "--ctstate",
		                   "RELATED,ESTABLISHED",
		                   "-j",
		                   "ACCEPT",
		                   NULL };

	return net_program_run(out ? out_rule : in_rule, PROGRAM_MS);
}

bool forward_allow(const char *link, struct err *e)
{
	struct chains c = look_at_chains();
	char path[PROGRAM_PATH];
	bool ok = !c.iptables_drops;

	if (!ok && net_program_find(path, "iptables")) {
		ok = true;
		for (int out = 0; out <= 1; out++)
			ok = ok && (iptables(path, "-C", link, out) || iptables(path, "-I", link, out));
	}
	if (!ok)
		return err_set(e, ERR_IO, "the firewall drops forwarded packets, and iptables cannot be used");
	return !c.other[0] || err_set(e, ERR_IO, "the firewall drops forwarded packets (chain %s)", c.other);
}

void forward_forget(const char *link)
{
	char path[PROGRAM_PATH];

	if (!look_at_chains().iptables || !net_program_find(path, "iptables"))
		return;
	for (int out = 0; out <= 1; out++) {
		for (int i = 0; i < COPIES_MAX && iptables(path, "-D", link, out); i++) {
		}
	}
}
