#include "local/net/address.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

enum { FIRST_BLOCK = 201, LAST_BLOCK = 254, BLOCK_SUBNETS = 1 << (SUBNET_PREFIX - 16) };
/* A UID, a namespace and a pod's name, as long as Kubernetes lets them be, and more. */
enum { OWNER_MAX = 512 };

static uint32_t mask(unsigned prefix)
{
	return prefix == 0 ? 0 : UINT32_MAX << (32 - prefix);
}

static bool meets(uint32_t subnet, const struct subnet_route *r)
{
	uint32_t common = mask(MIN(r->prefix, (unsigned)SUBNET_PREFIX));

	return r->prefix > 0 && (subnet & common) == (r->dst & common);
}

bool subnet_choose(uint32_t *ret, const struct subnet_route *routes, size_t n, size_t nth)
{
	for (uint32_t i = 0; i < (LAST_BLOCK - FIRST_BLOCK + 1) * BLOCK_SUBNETS; i++) {
		uint32_t subnet = (10U << 24 | FIRST_BLOCK << 16) + i * SUBNET_SIZE;
		size_t r = 0;

		while (r < n && !meets(subnet, &routes[r]))
			r++;
		if (r == n && nth-- == 0) {
			*ret = subnet;
			return true;
		}
	}
	return false;
}

void ip_text(char text[IP_TEXT], uint32_t ip)
{
	snprintf(text, IP_TEXT, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

bool ip_parse(struct str text, uint32_t *ret)
{
	struct str part;
	uint32_t ip = 0;
	int parts = 0;

	while (str_next(&text, '.', &part)) {
		int64_t v;

		if (part.n == 0 || part.n > 3 || part.p[0] == '-' || (part.n > 1 && part.p[0] == '0') ||
		    !str_int(part, &v) || v > 255 || ++parts > 4)
			return false;
		ip = ip << 8 | (uint32_t)v;
	}
	if (parts != 4)
		return false;
	*ret = ip;
	return true;
}

/* The three parts of UID/NAMESPACE/NAME, copied behind the structure itself. */
static struct net_address *address_new(uint32_t ip, struct str owner)
{
	struct net_address *a = xcalloc(1, sizeof(*a) + owner.n);
	char *text = (char *)(a + 1);
	struct str rest = { text, owner.n };

	memcpy(text, str_text(owner), owner.n);
	a->ip = ip;
	if (str_next(&rest, '/', &a->uid) && str_next(&rest, '/', &a->ns) && str_next(&rest, '/', &a->name) &&
	    a->uid.n > 0)
		return a;
	free(a);
	return NULL;
}

static size_t slot(const struct addresses *a, uint32_t ip)
{
	return ip - a->subnet;
}

static void keep_address(struct addresses *a, struct net_address *one)
{
	a->by_ip[slot(a, one->ip)] = one;
	map_put(&a->by_uid, one->uid, one);
	a->used++;
}

static bool usable(const struct addresses *a, uint32_t ip)
{
	return ip >= a->subnet + SUBNET_FIRST && ip < a->subnet + SUBNET_SIZE - 1;
}

static char *file_path(const struct addresses *a, const char *name)
{
	size_t n = strlen(a->folder) + strlen(name) + 2;
	char *path = xmalloc(n);

	snprintf(path, n, "%s/%s", a->folder, name);
	return path;
}

static void load_one(struct addresses *a, const char *name)
{
	CLEANUP(freep) char *path = file_path(a, name);
	struct net_address *one = NULL;
	char owner[OWNER_MAX];
	ssize_t n = readlink(path, owner, sizeof(owner));
	uint32_t ip;

	if (n > 0 && n < (ssize_t)sizeof(owner) && ip_parse(str_c(name), &ip) && usable(a, ip))
		one = address_new(ip, (struct str){ owner, (size_t)n });
	if (one && !map_get(&a->by_uid, one->uid)) {
		keep_address(a, one);
		a->next = MAX(a->next, (uint32_t)slot(a, ip) + 1);
		return;
	}
	free(one);
	(void)unlink(path);
}

bool address_load(struct addresses *ret, const char *folder, uint32_t subnet, struct err *e)
{
	DIR *d = opendir(folder);
	const struct dirent *entry;

	if (!d)
		return err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	*ret = (struct addresses){ .folder = xstrndup(folder, strlen(folder)), .subnet = subnet, .next = SUBNET_FIRST };
	while ((entry = readdir(d)) != NULL) {
		if (entry->d_name[0] != '.')
			load_one(ret, entry->d_name);
	}
	closedir(d);
	return true;
}

void address_release(struct addresses *a)
{
	for (size_t i = 0; i < SUBNET_SIZE; i++)
		free(a->by_ip[i]);
	map_release(&a->by_uid);
	free(a->folder);
	*a = (struct addresses){ 0 };
}

const struct net_address *address_of(const struct addresses *a, struct str uid)
{
	return map_get(&a->by_uid, uid);
}

static uint32_t next_free(struct addresses *a)
{
	do {
		if (a->next < SUBNET_FIRST || a->next >= SUBNET_SIZE - 1)
			a->next = SUBNET_FIRST;
	} while (a->by_ip[a->next++]);
	return a->subnet + a->next - 1;
}

const struct net_address *address_take(struct addresses *a, struct str uid, struct str ns, struct str name,
                                       struct err *e)
{
	CLEANUP(freep) char *path = NULL;
	struct net_address *one = map_get(&a->by_uid, uid);
	char owner[OWNER_MAX], text[IP_TEXT];
	int n = snprintf(owner, sizeof(owner), "%.*s/%.*s/%.*s", STR_F(uid), STR_F(ns), STR_F(name));

	if (one)
		return one;
	if (n >= OWNER_MAX || str_empty(uid)) {
		err_set(e, ERR_INVALID, "a pod's address: no usable UID and name");
		return NULL;
	}
	if (a->used >= SUBNET_PODS) {
		err_set(e, ERR_LIMIT, "all %d addresses are taken", SUBNET_PODS);
		return NULL;
	}
	one = address_new(next_free(a), str_c(owner));
	if (!one) {
		err_set(e, ERR_INVALID, "a pod's address: no usable UID and name");
		return NULL;
	}
	ip_text(text, one->ip);
	path = file_path(a, text);
	if (symlink(owner, path) < 0) {
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
		free(one);
		return NULL;
	}
	keep_address(a, one);
	return one;
}

bool address_drop(struct addresses *a, struct str uid, struct err *e)
{
	CLEANUP(freep) char *path = NULL;
	struct net_address *one = map_get(&a->by_uid, uid);
	char text[IP_TEXT];

	if (!one)
		return true;
	ip_text(text, one->ip);
	path = file_path(a, text);
	if (unlink(path) < 0 && errno != ENOENT)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	map_del(&a->by_uid, uid);
	a->by_ip[slot(a, one->ip)] = NULL;
	a->used--;
	free(one);
	return true;
}
