#include "local/net/nat.h"

#include "local/net/nl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#define CHAIN "postrouting"

enum { SRCNAT = 100, OFFSET_SOURCE = 12, OFFSET_DESTINATION = 16 };

static void put_be32(struct nl_msg *m, uint16_t type, uint32_t v)
{
	nl_put_u32(m, type, htonl(v));
}

static void begin(struct nl_msg *m, uint16_t type, uint16_t flags)
{
	const struct nfgenmsg g = { .nfgen_family = NFPROTO_IPV4, .version = NFNETLINK_V0 };

	nl_begin(m, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags, &g, sizeof(g));
}

/* All messages between the two ends take effect together or not at all. */
static void batch(struct nl_msg *m, uint16_t end)
{
	const struct nfgenmsg g = { .nfgen_family = AF_UNSPEC,
		                    .version = NFNETLINK_V0,
		                    .res_id = htons(NFNL_SUBSYS_NFTABLES) };

	nl_begin(m, end, 0, &g, sizeof(g));
}

static void put_value(struct nl_msg *m, uint16_t type, uint32_t v)
{
	size_t nest = nl_nest(m, type);

	put_be32(m, NFTA_DATA_VALUE, v);
	nl_nest_end(m, nest);
}

struct expression {
	size_t element, data;
};

static struct expression expression(struct nl_msg *m, const char *name)
{
	struct expression x;

	x.element = nl_nest(m, NFTA_LIST_ELEM);
	nl_put_name(m, NFTA_EXPR_NAME, name);
	x.data = nl_nest(m, NFTA_EXPR_DATA);
	return x;
}

static void expression_end(struct nl_msg *m, struct expression x)
{
	nl_nest_end(m, x.data);
	nl_nest_end(m, x.element);
}

/* The address at OFFSET of the packet's header is (or is not: OP) in the subnet. */
static void match(struct nl_msg *m, uint32_t offset, uint32_t op, uint32_t subnet, unsigned prefix)
{
	struct expression x = expression(m, "payload");

	put_be32(m, NFTA_PAYLOAD_DREG, NFT_REG_1);
	put_be32(m, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
	put_be32(m, NFTA_PAYLOAD_OFFSET, offset);
	put_be32(m, NFTA_PAYLOAD_LEN, sizeof(uint32_t));
	expression_end(m, x);
	x = expression(m, "bitwise");
	put_be32(m, NFTA_BITWISE_SREG, NFT_REG_1);
	put_be32(m, NFTA_BITWISE_DREG, NFT_REG_1);
	put_be32(m, NFTA_BITWISE_LEN, sizeof(uint32_t));
	put_value(m, NFTA_BITWISE_MASK, UINT32_MAX << (32 - prefix));
	put_value(m, NFTA_BITWISE_XOR, 0);
	expression_end(m, x);
	x = expression(m, "cmp");
	put_be32(m, NFTA_CMP_SREG, NFT_REG_1);
	put_be32(m, NFTA_CMP_OP, op);
	put_value(m, NFTA_CMP_DATA, subnet);
	expression_end(m, x);
}

static void add_chain(struct nl_msg *m, const char *table)
{
	size_t hook;

	begin(m, NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_ACK);
	nl_put_name(m, NFTA_CHAIN_TABLE, table);
	nl_put_name(m, NFTA_CHAIN_NAME, CHAIN);
	hook = nl_nest(m, NFTA_CHAIN_HOOK);
	put_be32(m, NFTA_HOOK_HOOKNUM, NF_INET_POST_ROUTING);
	put_be32(m, NFTA_HOOK_PRIORITY, SRCNAT);
	nl_nest_end(m, hook);
	nl_put_name(m, NFTA_CHAIN_TYPE, "nat");
}

static void add_rule(struct nl_msg *m, const char *table, uint32_t subnet, unsigned prefix)
{
	size_t list;

	begin(m, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK);
	nl_put_name(m, NFTA_RULE_TABLE, table);
	nl_put_name(m, NFTA_RULE_CHAIN, CHAIN);
	list = nl_nest(m, NFTA_RULE_EXPRESSIONS);
	match(m, OFFSET_SOURCE, NFT_CMP_EQ, subnet, prefix);
	match(m, OFFSET_DESTINATION, NFT_CMP_NEQ, subnet, prefix);
	expression_end(m, expression(m, "masq"));
	nl_nest_end(m, list);
}

static void table_message(struct nl_msg *m, uint16_t type, uint16_t flags, const char *table)
{
	begin(m, type, flags | NLM_F_ACK);
	nl_put_name(m, NFTA_TABLE_NAME, table);
}

static bool carry_out(struct nl_msg *m, int *code, struct err *e)
{
	struct nl nl = NL_INIT;
	bool ok = nl_open(&nl, NETLINK_NETFILTER, e) && nl_talk(&nl, m, code, e);

	nl_close(&nl);
	return ok;
}

bool nat_add(const char *table, uint32_t subnet, unsigned prefix, struct err *e)
{
	struct nl_msg m = { .n = 0 };

	batch(&m, NFNL_MSG_BATCH_BEGIN);
	/* Made first so that it can be deleted whether it was there or not. */
	table_message(&m, NFT_MSG_NEWTABLE, NLM_F_CREATE, table);
	table_message(&m, NFT_MSG_DELTABLE, 0, table);
	table_message(&m, NFT_MSG_NEWTABLE, NLM_F_CREATE, table);
	add_chain(&m, table);
	add_rule(&m, table, subnet, prefix);
	batch(&m, NFNL_MSG_BATCH_END);
	return carry_out(&m, NULL, e) || err_wrap(e, "masquerading");
}

bool nat_remove(const char *table, struct err *e)
{
	struct nl_msg m = { .n = 0 };
	int code = EIO;

	batch(&m, NFNL_MSG_BATCH_BEGIN);
	table_message(&m, NFT_MSG_DELTABLE, 0, table);
	batch(&m, NFNL_MSG_BATCH_END);
	if (carry_out(&m, &code, e))
		return true;
	/* No such table, a kernel that has no tables at all, or none that we could have made. */
	if (code == ENOENT || code == EOPNOTSUPP || code == EPROTONOSUPPORT || code == EPERM) {
		err_release(e);
		return true;
	}
	return err_wrap(e, "removing the table %s", table);
}
