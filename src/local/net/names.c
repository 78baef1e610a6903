/* The hosts files and the resolv.conf of the pods, on disk: FOLDER/hosts/NAMESPACE/pod-NAME is one pod's own, to which
   it may add lines; FOLDER/hosts/NAMESPACE/all is what the pods of a large namespace share. A file for each of a
   thousand pods with a thousand names in it would be a hundred megabytes to write whenever one of them comes. So that a
   pod reads the same in both, those of a namespace know each other's hostnames too, which in Kubernetes only the
   services' names give. */
#include "base/buf.h"
#include "base/file.h"
#include "base/map.h"
#include "local/net/hosts.h"
#include "local/net/hosts_file.h"
#include "local/net/internal.h"
#include "local/net/outside.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* In a namespace with more pods those that come share the file; but up to so many have their own whose hostname is
   somebody else's as well: past them the first has the name. */
enum { OWN_MAX = 64, ALONE_MAX = 256 };

static struct str shared_path(const struct net *n, struct str ns, struct arena *a)
{
	return arena_printf(a, "%s/hosts/%.*s/all", n->folder, STR_F(ns));
}

static struct str alone_path(const struct net *n, struct str ns, struct str name, struct arena *a)
{
	return arena_printf(a, "%s/hosts/%.*s/pod-%.*s", n->folder, STR_F(ns), STR_F(name));
}

/* Names become parts of paths. */
static bool is_part(struct str s)
{
	return s.n > 0 && s.n <= 253 && s.p[0] != '.' && !memchr(s.p, '/', s.n) && !memchr(s.p, 0, s.n);
}

struct str net_hosts_path(const struct net *n, struct str ns, struct str name, bool *own, struct arena *a)
{
	struct str path = alone_path(n, ns, name, a);

	ASSERT(is_part(ns) && is_part(name));
	*own = access(path.p, F_OK) == 0;
	return *own ? path : shared_path(n, ns, a);
}

void names_forget(const struct net *n, struct str ns, struct str name)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;

	if (is_part(ns) && is_part(name))
		(void)unlink(alone_path(n, ns, name, &a).p);
}

static bool write_alone(struct net *n, const struct hosts *h, struct str ns, struct str shared, struct arena *a,
                        struct err *e)
{
	struct buf b = BUF_INIT(HOSTS_MAX);
	size_t written = 0, here = 0;
	bool ok = true;

	for (size_t i = 0; i < h->n; i++)
		here += str_eq(h->pods[i].pod->ns, ns);
	for (size_t i = 0; ok && i < h->n; i++) {
		const struct hosts_pod *p = &h->pods[i];
		bool own = here <= OWN_MAX || (p->alone && written < ALONE_MAX);
		struct str path;

		if (!str_eq(p->pod->ns, ns) || !is_part(p->pod->name))
			continue;
		path = alone_path(n, ns, p->pod->name, a);
		/* Once mounted it must be kept up, however many pods there are by now. */
		if (!own && access(path.p, F_OK) < 0)
			continue;
		written++;
		buf_clear(&b);
		hosts_alone(&b, p, shared);
		ok = hosts_file_write_own(path.p, buf_str(&b), e);
	}
	buf_release(&b);
	return ok;
}

static bool write_namespace(struct net *n, const struct hosts *h, struct str ns, struct str common, struct arena *a,
                            struct err *e)
{
	struct buf b = BUF_INIT(HOSTS_MAX);
	struct str folder = arena_printf(a, "%s/hosts/%.*s", n->folder, STR_F(ns));
	bool ok;

	if (mkdir(folder.p, 0700) < 0 && errno != EEXIST)
		return err_set(e, ERR_IO, "%s: %s", folder.p, strerror(errno));
	hosts_shared(&b, h, ns, common);
	ok = hosts_file_write(shared_path(n, ns, a).p, buf_str(&b), NULL, e) &&
	     write_alone(n, h, ns, buf_str(&b), a, e);
	buf_release(&b);
	return ok;
}

bool net_hosts_update(struct net *n, const struct net_host_pod *pods, size_t n_pods,
                      const struct net_host_service *services, size_t n_services, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	CLEANUP(map_release) struct map seen = MAP_INIT;
	CLEANUP(buf_release) struct buf common = BUF_INIT(HOSTS_MAX);
	const struct hosts *h = hosts_resolve(&a, pods, n_pods, services, n_services);
	char machine[IP_TEXT] = "";

	if (n->kind == NET_HOST)
		snprintf(machine, sizeof(machine), "127.0.0.1");
	else if (n->machine)
		ip_text(machine, n->subnet + SUBNET_MACHINE);
	hosts_machine(&common, n->machine_hosts, str_c(machine));
	/* A pod without an address is listed nowhere, but its namespace has a file. */
	for (size_t i = 0; i < n_pods; i++) {
		struct str ns = pods[i].ns;

		if (!is_part(ns) || map_get(&seen, ns))
			continue;
		map_put(&seen, ns, n);
		if (!write_namespace(n, h, ns, buf_str(&common), &a, e))
			return err_wrap(e, "the hosts file of namespace %.*s", STR_F(ns));
	}
	return true;
}

/* ---- resolv.conf ---- */

void resolv_text(struct buf *b, struct str text, const char *dns)
{
	struct str line;

	if (dns)
		buf_printf(b, "nameserver %s\n", dns);
	while (str_next(&text, '\n', &line)) {
		struct str word = str_trim(line), rest;
		size_t n = 0;

		while (n < word.n && word.p[n] != ' ' && word.p[n] != '\t')
			n++;
		rest = str_trim(str_sub(word, n, word.n));
		word = str_sub(word, 0, n);
		/* A resolver on the machine's loopback is not on the pod's. */
		if (str_eqc(word, "nameserver") && (dns || str_has_prefix(rest, STR("127.")) || str_eqc(rest, "::1")))
			continue;
		if (str_eqc(word, "nameserver") || str_eqc(word, "search") || str_eqc(word, "options")) {
			buf_put(b, str_trim(line));
			buf_putc(b, '\n');
		}
	}
}

struct str net_resolv_path(const struct net *n, struct arena *a)
{
	/* The second is what systemd-resolved, which listens on the loopback, asks in its turn. */
	static const char *const sources[] = { "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf" };
	CLEANUP(buf_release) struct buf b = BUF_INIT(FILE_MAX);
	struct str path = arena_printf(a, "%s/resolv.conf", n->folder), text;
	const struct outside way_out = n->kind == NET_USER ? outside_find() : (struct outside){ .pasta = false };

	if (n->kind == NET_HOST)
		return STR("/etc/resolv.conf");
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		if (file_read(&text, sources[i], a, NULL) != FILE_READ)
			continue;
		buf_clear(&b);
		resolv_text(&b, text, way_out.dns);
		if (b.p && strstr(b.p, "nameserver"))
			break;
	}
	return hosts_file_write(path.p, buf_str(&b), NULL, NULL) ? path : STR("/etc/resolv.conf");
}
