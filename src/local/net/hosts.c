#include "local/net/hosts.h"

#define DOMAIN "svc.cluster.local"

static bool is_name(struct str s)
{
	if (s.n == 0 || s.n > 253 || s.p[0] == '.' || s.p[0] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
		      c == '.' || c == '_'))
			return false;
	}
	return true;
}

static bool is_address(struct str s)
{
	if (s.n == 0 || s.n > 45)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '.' ||
		      c == ':'))
			return false;
	}
	return true;
}

/* ---- who has which names ---- */

/* Pods by one of their labels, so that a service looks at few of them. */
struct bucket {
	VEC(struct hosts_pod *) pods;
};

static struct str label_key(struct arena *a, struct str ns, const struct net_label *l)
{
	return arena_printf(a, "%.*s/%.*s=%.*s", STR_F(ns), STR_F(l->key), STR_F(l->value));
}

static void index_pod(struct arena *a, struct map *labels, struct hosts_pod *p)
{
	for (size_t i = 0; i < p->pod->n_labels; i++) {
		struct str key = label_key(a, p->pod->ns, &p->pod->labels[i]);
		struct bucket *b = map_get(labels, key);

		if (!b) {
			b = arena_new(a, struct bucket);
			map_put(labels, key, b);
		}
		*vec_push(a, &b->pods) = p;
	}
}

static bool selects(const struct net_host_service *s, const struct net_host_pod *p)
{
	for (size_t i = 0; i < s->n_selector; i++) {
		size_t k = 0;

		while (k < p->n_labels && !(str_eq(p->labels[k].key, s->selector[i].key) &&
		                            str_eq(p->labels[k].value, s->selector[i].value)))
			k++;
		if (k == p->n_labels)
			return false;
	}
	return true;
}

/* Tells the pods that S selects; returns how many. */
static size_t attach(struct arena *a, const struct map *labels, const struct net_host_service *s)
{
	const struct bucket *least = NULL;
	size_t found = 0;

	for (size_t i = 0; i < s->n_selector; i++) {
		const struct bucket *b = map_get(labels, label_key(a, s->ns, &s->selector[i]));

		if (!b)
			return 0;
		if (!least || b->pods.n < least->pods.n)
			least = b;
	}
	for (size_t i = 0; least && i < least->pods.n; i++) {
		if (selects(s, least->pods.v[i]->pod)) {
			*vec_push(a, &least->pods.v[i]->services) = s;
			found++;
		}
	}
	return found;
}

static struct str claim_key(struct arena *a, struct str ns, struct str name)
{
	return arena_printf(a, "%.*s/%.*s", STR_F(ns), STR_F(name));
}

/* A service's name is the service's. Its claim is a count of its pods, plus one: no pod can be NULL. */
struct claim {
	const struct net_host_service *service;
	size_t pods;
};

static void settle_hostname(struct arena *a, struct map *claims, struct hosts_pod *p)
{
	struct str key = claim_key(a, p->pod->ns, p->hostname);
	const struct claim *c = map_get(claims, key);

	if (!c) {
		map_put(claims, key, arena_new(a, struct claim));
		p->listed = true;
	} else {
		bool its_own = false;

		for (size_t i = 0; c->service && i < p->services.n; i++)
			its_own = its_own || p->services.v[i] == c->service;
		p->alone = !(its_own && c->pods == 1);
	}
	if (p->pod->n_aliases > 0)
		p->alone = true;
}

struct hosts *hosts_resolve(struct arena *a, const struct net_host_pod *pods, size_t n_pods,
                            const struct net_host_service *services, size_t n_services)
{
	struct hosts *h = arena_new(a, struct hosts);
	struct map labels = MAP_INIT, claims = MAP_INIT;

	h->pods = arena_array(a, struct hosts_pod, n_pods);
	for (size_t i = 0; i < n_pods; i++) {
		struct str hostname = str_empty(pods[i].hostname) ? pods[i].name : pods[i].hostname;

		if (!is_address(pods[i].ip) || !is_name(pods[i].ns) || !is_name(pods[i].name) || !is_name(hostname) ||
		    (pods[i].subdomain.n > 0 && !is_name(pods[i].subdomain)))
			continue;
		h->pods[h->n] = (struct hosts_pod){ .pod = &pods[i], .hostname = hostname };
		index_pod(a, &labels, &h->pods[h->n++]);
	}
	for (size_t i = 0; i < n_services; i++) {
		struct claim *c;

		if (!is_name(services[i].ns) || !is_name(services[i].name))
			continue;
		c = arena_new(a, struct claim);
		c->service = &services[i];
		c->pods = attach(a, &labels, &services[i]);
		map_put(&claims, claim_key(a, services[i].ns, services[i].name), c);
	}
	for (size_t i = 0; i < h->n; i++)
		settle_hostname(a, &claims, &h->pods[i]);
	map_release(&labels);
	map_release(&claims);
	return h;
}

/* ---- the files ---- */

/* Addresses take the same room whatever they are: a pod that comes back elsewhere changes its own line alone. */
static void put_ip(struct buf *b, struct str ip)
{
	buf_printf(b, "%-15.*s", STR_F(ip));
}

/* The forms that a name of namespace NS has: in its own namespace one more. */
static void put_forms(struct buf *b, struct str name, struct str ns, bool own)
{
	if (own)
		buf_printf(b, " %.*s", STR_F(name));
	buf_printf(b, " %.*s.%.*s %.*s.%.*s.svc %.*s.%.*s." DOMAIN, STR_F(name), STR_F(ns), STR_F(name), STR_F(ns),
	           STR_F(name), STR_F(ns));
}

/* The kubelet's own line: with a subdomain the full name first. */
static void put_hostname(struct buf *b, const struct hosts_pod *p)
{
	put_ip(b, p->pod->ip);
	if (p->pod->subdomain.n > 0)
		buf_printf(b, " %.*s.%.*s.%.*s." DOMAIN, STR_F(p->hostname), STR_F(p->pod->subdomain),
		           STR_F(p->pod->ns));
	buf_printf(b, " %.*s\n", STR_F(p->hostname));
}

static void put_pod(struct buf *b, const struct hosts_pod *p, struct str ns)
{
	bool own = str_eq(p->pod->ns, ns);

	if (own && p->listed)
		put_hostname(b, p);
	if (p->pod->subdomain.n > 0) {
		char name[512];
		int n = snprintf(name, sizeof(name), "%.*s.%.*s", STR_F(p->hostname), STR_F(p->pod->subdomain));

		put_ip(b, p->pod->ip);
		put_forms(b, (struct str){ name, MIN((size_t)n, sizeof(name) - 1) }, p->pod->ns, own);
		buf_putc(b, '\n');
	}
	for (size_t i = 0; i < p->services.n; i++) {
		put_ip(b, p->pod->ip);
		put_forms(b, p->services.v[i]->name, p->pod->ns, own);
		buf_putc(b, '\n');
	}
}

/* Past the buffer's end: only whole lines. */
static void cut(struct buf *b)
{
	while (b->overflow && b->n > 0 && b->p[b->n - 1] != '\n')
		b->p[--b->n] = 0;
}

void hosts_shared(struct buf *b, const struct hosts *h, struct str ns, struct str common)
{
	buf_put(b, STR("127.0.0.1       localhost\n::1             localhost ip6-localhost ip6-loopback\n"));
	buf_put(b, common);
	for (size_t i = 0; i < h->n && !b->overflow; i++)
		put_pod(b, &h->pods[i], ns);
	cut(b);
}

void hosts_alone(struct buf *b, const struct hosts_pod *p, struct str shared)
{
	put_hostname(b, p);
	for (size_t i = 0; i < p->pod->n_aliases; i++) {
		const struct net_alias *alias = &p->pod->aliases[i];

		if (!is_address(alias->ip) || !is_name(alias->name))
			continue;
		put_ip(b, alias->ip);
		buf_printf(b, " %.*s\n", STR_F(alias->name));
	}
	buf_put(b, shared);
	cut(b);
}

/* ---- the machine's own ---- */

static bool next_word(struct str *line, struct str *word)
{
	size_t from = 0, to;

	while (from < line->n && (line->p[from] == ' ' || line->p[from] == '\t' || line->p[from] == '\r'))
		from++;
	to = from;
	while (to < line->n && line->p[to] != ' ' && line->p[to] != '\t' && line->p[to] != '\r')
		to++;
	*word = str_sub(*line, from, to - from);
	*line = str_sub(*line, to, line->n);
	return word->n > 0;
}

static void machine_line(struct buf *b, struct str line, struct str machine)
{
	struct str ip, word;
	bool loopback;
	int words = 0;

	if (!next_word(&line, &ip) || !is_address(ip))
		return;
	/* Multicast names of IPv6 that every machine has. */
	if (str_has_prefix(ip, STR("ff0")) || str_has_prefix(ip, STR("fe0")))
		return;
	loopback = str_has_prefix(ip, STR("127.")) || str_eq(ip, STR("::1"));
	if (loopback && str_empty(machine))
		return;
	while (next_word(&line, &word)) {
		if (!is_name(word))
			continue;
		if (loopback && (str_has_prefix(word, STR("localhost")) || str_has_prefix(word, STR("ip6-"))))
			continue;
		if (words++ == 0)
			put_ip(b, loopback ? machine : ip);
		buf_printf(b, " %.*s", STR_F(word));
	}
	if (words > 0)
		buf_putc(b, '\n');
}

void hosts_machine(struct buf *b, struct str text, struct str machine)
{
	struct str line;

	while (str_next(&text, '\n', &line) && b->n < HOSTS_MACHINE_MAX) {
		const char *comment = line.n ? memchr(line.p, '#', line.n) : NULL;

		machine_line(b, comment ? str_sub(line, 0, (size_t)(comment - line.p)) : line, machine);
	}
}
