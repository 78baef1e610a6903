/* Removes what a cluster has left on the machine, by its marks: see net_clean() in net.h. */
#include "local/net/forward.h"
#include "local/net/holder.h"
#include "local/net/internal.h"
#include "local/net/nat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* DEPTH folders below this one at the most: links are removed and never followed. */
static void remove_below(int parent, const char *name, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(d)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0 && errno == EISDIR && depth > 0)
			remove_below(fd, entry->d_name, depth - 1);
	}
	closedir(d);
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

bool net_clean(const char *folder, struct str id, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct str ours = arena_printf(&a, "%s/net", folder);
	char name[LINK_NAME_MAX], mark[MARK_MAX];

	net_name(name, id);
	net_mark(mark, id);
	if (!holder_end(ours.p, e))
		return false;
	/* An ordinary user has left nothing outside of the holder's namespaces, and finds nothing here. */
	if (!router_remove_link(name, mark, e) || !nat_remove(name, e))
		return false;
	forward_forget(name);
	remove_below(AT_FDCWD, ours.p, 2);
	return access(ours.p, F_OK) < 0 || err_set(e, ERR_IO, "%s cannot be removed", ours.p);
}
