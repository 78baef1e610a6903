/* What can be had on this machine: see net_enter() in net.h. */
#include "local/net/holder.h"
#include "local/net/internal.h"
#include "local/net/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

void net_note(struct net_world *w, const char *fmt, ...)
{
	size_t n = strlen(w->note);
	va_list args;

	if (n > 0 && n + 2 < sizeof(w->note)) {
		memcpy(w->note + n, "; ", 3);
		n += 2;
	}
	va_start(args, fmt);
	vsnprintf(w->note + n, sizeof(w->note) - n, fmt, args);
	va_end(args);
}

static bool make_folder(struct arena *a, const char *folder, const char *name, struct err *e)
{
	struct str path = arena_printf(a, "%s/%s", folder, name);

	return mkdir(path.p, 0700) == 0 || errno == EEXIST || err_set(e, ERR_IO, "%s: %s", path.p, strerror(errno));
}

/* Our own user namespace becomes the holder's. */
static bool join(pid_t holder, struct err *e)
{
	char path[64];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)holder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ok = fd >= 0 && setns(fd, CLONE_NEWUSER) == 0;
	if (!ok)
		err_set(e, ERR_IO, "joining the user namespace: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok && rights_keep(e);
}

static bool start_holder(struct net_world *w, const char *folder, enum net_kind kind, enum net_keep keep, struct err *e)
{
	struct outside way_out = kind == NET_USER ? outside_find() : (struct outside){ .pasta = false };

	if (!holder_start(&w->holder, folder, kind, keep, way_out.path[0] ? &way_out : NULL, e))
		return false;
	if (kind == NET_USER && !join(w->holder, e)) {
		holder_end(folder, NULL);
		return false;
	}
	w->kind = kind;
	if (kind == NET_USER && !way_out.path[0])
		net_note(w, "pods reach each other but nothing beyond: install slirp4netns or passt for that");
	return true;
}

static bool adopt(struct net_world *w, const char *folder)
{
	w->holder = holder_find(folder, &w->kind);
	w->adopted = w->holder > 0 && (w->kind != NET_USER || join(w->holder, NULL));
	return w->adopted;
}

bool net_enter(struct net_world *ret, const char *folder, enum net_kind at_best, enum net_keep keep, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct err root = ERR_INIT, user = ERR_INIT;
	struct net_world w = { .kind = NET_HOST };
	struct str ours = arena_printf(&a, "%s/net", folder);

	if (!make_folder(&a, folder, "net", e) || !make_folder(&a, ours.p, "pods", e) ||
	    !make_folder(&a, ours.p, "hosts", e))
		return false;
	if (at_best != NET_HOST && !adopt(&w, ours.p)) {
		w.holder = 0;
		holder_end(ours.p, NULL);
		if (!(at_best == NET_ROOT && start_holder(&w, ours.p, NET_ROOT, keep, &root)) &&
		    !start_holder(&w, ours.p, NET_USER, keep, &user)) {
			w.kind = NET_HOST;
			w.holder = 0;
			net_note(&w, "pods share the machine's network, so two of them cannot listen on one port (%s)",
			         err_msg(&user));
			apparmor_note(&w, APPARMOR_SYSCTL, "/proc/self/exe");
		}
	}
	err_release(&root);
	err_release(&user);
	*ret = w;
	return true;
}
