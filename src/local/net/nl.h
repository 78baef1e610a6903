/* Talking to the kernel's routing and packet filter tables: netlink messages built in a buffer, sent, and answered.
   Every call is bounded: the kernel answers at once, and a socket that stays silent is an error after some seconds. */
#ifndef LOCAL_NET_NL_H
#define LOCAL_NET_NL_H

#include "base/err.h"
#include "base/str.h"

#include <linux/netlink.h>

struct nl {
	int fd; /* -1: closed */
	uint32_t seq;
};

#define NL_INIT                                                                                                        \
	{                                                                                                              \
		-1, 0                                                                                                  \
	}

/* FAMILY is NETLINK_ROUTE or NETLINK_NETFILTER. The socket belongs to the network namespace of the thread that opens
   it and stays there, whoever uses it later. */
bool nl_open(struct nl *ret, int family, struct err *e);
void nl_close(struct nl *nl);

enum { NL_MSG_MAX = 8192 };

/* One or more messages in a row; nests are closed in the reverse order. What does not fit is a defect of ours. */
struct nl_msg {
	_Alignas(NLMSG_ALIGNTO) char buf[NL_MSG_MAX];
	size_t n;    /* bytes used */
	size_t head; /* where the message that is being built begins */
};

/* Begins a message with the fixed part BODY of SIZE bytes. NLM_F_REQUEST is always set. */
void nl_begin(struct nl_msg *m, uint16_t type, uint16_t flags, const void *body, size_t size);
void nl_put(struct nl_msg *m, uint16_t type, const void *p, size_t n);
void nl_put_u8(struct nl_msg *m, uint16_t type, uint8_t v);
void nl_put_u32(struct nl_msg *m, uint16_t type, uint32_t v);
/* With its zero at the end, as the kernel wants it. */
void nl_put_name(struct nl_msg *m, uint16_t type, const char *text);
/* Plain bytes inside a nest, as veth's peer has them before its attributes. */
void nl_put_raw(struct nl_msg *m, const void *p, size_t n);
size_t nl_nest(struct nl_msg *m, uint16_t type);
void nl_nest_end(struct nl_msg *m, size_t nest);

/* Sends all messages of M and waits until each that asked for it (NLM_F_ACK) is acknowledged. False with the first
   refusal in *E and its errno in *CODE (may be NULL): what follows it is carried out all the same, outside of a batch
   of the packet filter, and its answers are dropped. */
bool nl_talk(struct nl *nl, struct nl_msg *m, int *code, struct err *e);

/* One message of a dump; false ends it early, which is no error. */
typedef bool (*nl_each_fn)(void *cookie, const struct nlmsghdr *h);
bool nl_dump(struct nl *nl, struct nl_msg *m, nl_each_fn each, void *cookie, struct err *e);

/* The attribute TYPE among those that follow the fixed part of SIZE bytes; NULL if it is not there. */
const struct nlattr *nl_find(const struct nlmsghdr *h, size_t size, uint16_t type);
/* The same inside of an attribute that is a nest. */
const struct nlattr *nl_find_nested(const struct nlattr *nest, uint16_t type);

static inline const void *nl_data(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

static inline size_t nl_size(const struct nlattr *a)
{
	return a->nla_len - (size_t)NLA_HDRLEN;
}

#endif
