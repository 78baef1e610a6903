/* Ending what a cluster has left on the machine without asking its database, which may be damaged or gone: by the
   folders of its pods and by its name. */
#include "embedded/embedded.h"

#include "base/file.h"
#include "local/pod/pod.h"

#include <dirent.h>
#include <errno.h>

/* As many as there are; what is wrong with one does not save the others. */
static bool clear_pods(const char *folder, struct arena *a, struct err *e)
{
	const char *path = arena_printf(a, "%s/pods", folder).p;
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool ok = true;

	if (!dir)
		return errno == ENOENT || err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	while ((entry = readdir(dir))) {
		struct err why = ERR_INIT;

		if (entry->d_name[0] == '.' ||
		    pod_reap(arena_printf(a, "%s/%s", path, entry->d_name).p, &clock_wall, &why))
			continue;
		if (ok)
			err_set(e, ERR_IO, "pod %s: %s", entry->d_name, err_msg(&why));
		ok = false;
		err_release(&why);
	}
	closedir(dir);
	return ok;
}

bool embedded_clear(const char *folder, struct err *e)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct str id = STR_NONE;
	bool ok = clear_pods(folder, &a, e);

	/* Without a name it never came so far as to have a network. */
	if (file_read(&id, arena_printf(&a, "%s/id", folder).p, &a, ok ? e : NULL) == FILE_READ && id.n)
		ok &= net_clean(folder, id, ok ? e : NULL);
	return ok;
}
