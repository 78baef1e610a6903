#include "local/net/nl.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { SILENT_S = 5, ANSWER_MAX = 65536 };

bool nl_open(struct nl *ret, int family, struct err *e)
{
	const struct timeval limit = { .tv_sec = SILENT_S };
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	const int on = 1;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family);

	if (fd < 0)
		return err_set(e, ERR_IO, "netlink: %s", strerror(errno));
	/* Both only make messages better or shorter. */
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	(void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		err_set(e, ERR_IO, "netlink: %s", strerror(errno));
		close(fd);
		return false;
	}
	ret->fd = fd;
	ret->seq = 1;
	return true;
}

void nl_close(struct nl *nl)
{
	if (nl->fd >= 0)
		close(nl->fd);
	nl->fd = -1;
}

static void *room(struct nl_msg *m, size_t n)
{
	void *p = m->buf + m->n;

	ASSERT(n <= NL_MSG_MAX && m->n + NLMSG_ALIGN(n) <= NL_MSG_MAX);
	memset(p, 0, NLMSG_ALIGN(n));
	m->n += NLMSG_ALIGN(n);
	((struct nlmsghdr *)(void *)(m->buf + m->head))->nlmsg_len = (uint32_t)(m->n - m->head);
	return p;
}

void nl_begin(struct nl_msg *m, uint16_t type, uint16_t flags, const void *body, size_t size)
{
	struct nlmsghdr *h;

	m->head = m->n;
	h = room(m, sizeof(*h));
	h->nlmsg_type = type;
	h->nlmsg_flags = flags | NLM_F_REQUEST;
	nl_put_raw(m, body, size);
}

void nl_put_raw(struct nl_msg *m, const void *p, size_t n)
{
	memcpy(room(m, n), p, n);
}

void nl_put(struct nl_msg *m, uint16_t type, const void *p, size_t n)
{
	struct nlattr *a = room(m, NLA_HDRLEN + n);

	a->nla_type = type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + n);
	if (n > 0)
		memcpy((char *)a + NLA_HDRLEN, p, n);
}

void nl_put_u8(struct nl_msg *m, uint16_t type, uint8_t v)
{
	nl_put(m, type, &v, sizeof(v));
}

void nl_put_u32(struct nl_msg *m, uint16_t type, uint32_t v)
{
	nl_put(m, type, &v, sizeof(v));
}

void nl_put_name(struct nl_msg *m, uint16_t type, const char *text)
{
	nl_put(m, type, text, strlen(text) + 1);
}

size_t nl_nest(struct nl_msg *m, uint16_t type)
{
	size_t at = m->n;

	nl_put(m, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void nl_nest_end(struct nl_msg *m, size_t nest)
{
	((struct nlattr *)(void *)(m->buf + nest))->nla_len = (uint16_t)(m->n - nest);
}

/* Numbers the messages; returns how many acknowledgements will come. */
static unsigned number_messages(struct nl *nl, struct nl_msg *m)
{
	unsigned acks = 0;
	size_t at = 0;

	while (at < m->n) {
		struct nlmsghdr *h = (struct nlmsghdr *)(void *)(m->buf + at);

		h->nlmsg_seq = nl->seq++;
		acks += (h->nlmsg_flags & NLM_F_ACK) != 0;
		at += NLMSG_ALIGN(h->nlmsg_len);
	}
	return acks;
}

static bool send_all(struct nl *nl, const struct nl_msg *m, struct err *e)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t n;

	do
		n = sendto(nl->fd, m->buf, m->n, 0, (const struct sockaddr *)&kernel, sizeof(kernel));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)m->n || err_set(e, ERR_IO, "netlink: %s", strerror(n < 0 ? errno : EMSGSIZE));
}

/* The next datagram from the kernel; others may write to the socket as well, theirs is dropped. */
static ssize_t receive(struct nl *nl, char *answer, struct err *e)
{
	struct sockaddr_nl from = { .nl_pid = 0 };
	socklen_t len;
	ssize_t n;

	do {
		len = sizeof(from);
		n = recvfrom(nl->fd, answer, ANSWER_MAX, 0, (struct sockaddr *)&from, &len);
	} while ((n < 0 && errno == EINTR) || (n >= 0 && from.nl_pid != 0));
	if (n < 0)
		err_set(e, ERR_IO, "netlink: %s", errno == EAGAIN ? "the kernel does not answer" : strerror(errno));
	return n;
}

static const struct nlattr *find_attribute(const char *p, size_t n, uint16_t type)
{
	size_t at = 0;

	while (at + NLA_HDRLEN <= n) {
		const struct nlattr *a = (const struct nlattr *)(const void *)(p + at);

		if (a->nla_len < NLA_HDRLEN || at + a->nla_len > n)
			return NULL;
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		at += NLA_ALIGN(a->nla_len);
	}
	return NULL;
}

const struct nlattr *nl_find(const struct nlmsghdr *h, size_t size, uint16_t type)
{
	size_t head = NLMSG_HDRLEN + NLMSG_ALIGN(size);

	return h->nlmsg_len < head ? NULL : find_attribute((const char *)h + head, h->nlmsg_len - head, type);
}

const struct nlattr *nl_find_nested(const struct nlattr *nest, uint16_t type)
{
	return find_attribute(nl_data(nest), nl_size(nest), type);
}

/* What an NLMSG_ERROR says: 0 or the errno; the kernel's own words, where it has any, into *E. */
static int verdict(const struct nlmsghdr *h, struct err *e)
{
	const struct nlmsgerr *r = (const struct nlmsgerr *)(const void *)((const char *)h + NLMSG_HDRLEN);
	const struct nlattr *words;

	if (h->nlmsg_len < NLMSG_HDRLEN + sizeof(*r))
		return EPROTO;
	if (r->error == 0)
		return 0;
	/* With NETLINK_CAP_ACK only the header of the request comes back, and then the attributes. */
	words = h->nlmsg_flags & NLM_F_ACK_TLVS ? nl_find(h, sizeof(*r), NLMSGERR_ATTR_MSG) : NULL;
	if (words)
		err_set(e, ERR_IO, "%s (%.*s)", strerror(-r->error), (int)strnlen(nl_data(words), nl_size(words)),
		        (const char *)nl_data(words));
	else
		err_set(e, ERR_IO, "%s", strerror(-r->error));
	return -r->error;
}

bool nl_talk(struct nl *nl, struct nl_msg *m, int *code, struct err *e)
{
	CLEANUP(freep) char *answer = xmalloc(ANSWER_MAX);
	uint32_t first = nl->seq;
	unsigned acks = number_messages(nl, m);

	if (code)
		*code = EIO;
	if (!send_all(nl, m, e))
		return false;
	while (acks > 0) {
		ssize_t n = receive(nl, answer, e);
		struct nlmsghdr *h = (struct nlmsghdr *)(void *)answer;

		if (n < 0)
			return false;
		for (; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			int one;

			/* An older request's answer that nobody waited for any more. */
			if (h->nlmsg_type != NLMSG_ERROR || h->nlmsg_seq - first >= nl->seq - first)
				continue;
			one = verdict(h, e);
			if (one != 0) {
				if (code)
					*code = one;
				return false;
			}
			acks -= acks > 0;
		}
	}
	if (code)
		*code = 0;
	return true;
}

bool nl_dump(struct nl *nl, struct nl_msg *m, nl_each_fn each, void *cookie, struct err *e)
{
	CLEANUP(freep) char *answer = xmalloc(ANSWER_MAX);
	uint32_t seq = nl->seq;
	bool wanted = true;

	number_messages(nl, m);
	if (!send_all(nl, m, e))
		return false;
	for (;;) {
		ssize_t n = receive(nl, answer, e);
		struct nlmsghdr *h = (struct nlmsghdr *)(void *)answer;

		if (n < 0)
			return false;
		for (; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_seq != seq)
				continue;
			if (h->nlmsg_type == NLMSG_DONE)
				return true;
			if (h->nlmsg_type == NLMSG_ERROR)
				return verdict(h, e) == 0;
			wanted = wanted && each(cookie, h);
		}
	}
}
