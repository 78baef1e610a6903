/* What came out of a pod, before it gets its place. */
#include "client/copy.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 32 };

/* nftw() has no cookie. */
static size_t links_gone;
static char problem[512];

/* Up is out: a folder on the way may be a link itself. */
static bool leads_out(struct str to)
{
	struct str part;

	if (str_has_prefix(to, STR("/")))
		return true;
	while (str_next(&to, '/', &part))
		if (str_eqc(part, ".."))
			return true;
	return false;
}

static int look(const char *path, const struct stat *st, int what, struct FTW *at)
{
	char to[PATH_MAX];
	ssize_t n;

	if (S_ISLNK(st->st_mode)) {
		n = readlink(path, to, sizeof(to));
		if (n >= 0 && !leads_out((struct str){ to, (size_t)n }))
			return 0;
		links_gone++;
		return unlink(path);
	}
	if (what == FTW_DNR || (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))) {
		snprintf(problem, sizeof(problem), "%s is no file, folder or link", path + at->base);
		return -1;
	}
	return st->st_mode & (S_ISUID | S_ISGID) ? chmod(path, st->st_mode & 0777) : 0;
}

bool copy_check(const char *root, size_t *ret_links, struct err *e)
{
	links_gone = 0;
	problem[0] = 0;
	if (nftw(root, look, OPEN_FOLDERS, FTW_PHYS) == 0) {
		*ret_links = links_gone;
		return true;
	}
	return err_set(e, ERR_INVALID, "%s", problem[0] ? problem : strerror(errno));
}
