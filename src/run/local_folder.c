#include "run/local_folder.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKER "dljob-cluster"

/* All that a cluster makes in its folder. */
static const char *const made[] = {
	"ca.pem",       "id",           "kinds",
	"kubeconfig",   "lock",         "log",
	"log.1",        "logs",         "net",
	"pods",         "port",         "store.db",
	"store.db-wal", "store.db-shm", "store.db-journal",
	"tls.pem",      "token",        "store.db-reserve",
};

static bool is_made(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(made); i++)
		if (!strcmp(name, made[i]))
			return true;
	/* Files that are written whole have another name first. */
	return str_has_suffix(str_c(name), STR(".new"));
}

/* Open, and safe to work in; -1: refused, or (errno ENOENT, no *E) not there. */
static int open_ours(const char *folder, struct err *e)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return -1;
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR) && lstat(folder, &st) == 0 && S_ISLNK(st.st_mode))
		err_set(e, ERR_IO, "%s is a link: set DLJOB_HOME to the folder itself", folder);
	else if (fd < 0 || fstat(fd, &st))
		err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	else if (st.st_uid != geteuid())
		err_set(e, ERR_IO, "%s belongs to user %d: set DLJOB_HOME to a folder of your own", folder,
		        (int)st.st_uid);
	else if (st.st_mode & 022)
		err_set(e, ERR_IO, "others may write to %s: `chmod go-w` it, or set DLJOB_HOME to another folder",
		        folder);
	else
		return fd;
	if (fd >= 0)
		close(fd);
	errno = EPERM;
	return -1;
}

static bool is_marked(int dir)
{
	struct stat st;

	return fstatat(dir, MARKER, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/* Of a cluster that was made before there were markers: it has our lock, number and database, and nothing else. */
static bool is_older(int dir)
{
	struct stat st;

	return fstatat(dir, "lock", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(dir, "id", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(dir, "store.db", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Is there anything that we do not make? */
static bool has_others(int dir)
{
	DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *entry;
	bool found = !d;

	while (d && !found && (entry = readdir(d)))
		found = !is_dot(entry->d_name) && strcmp(entry->d_name, MARKER) != 0 && !is_made(entry->d_name);
	if (d)
		closedir(d);
	return found;
}

static bool is_empty(int dir)
{
	DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *entry;
	bool found = !d;

	while (d && !found && (entry = readdir(d)))
		found = !is_dot(entry->d_name);
	if (d)
		closedir(d);
	return !found;
}

static bool refuse_foreign(const char *folder, struct err *e)
{
	return err_set(e, ERR_IO,
	               "%s contains files that are not a cluster's (there is no " MARKER
	               " in it): set DLJOB_HOME to another folder",
	               folder);
}

bool local_folder_check(const char *folder, bool marked, bool *there, struct err *e)
{
	int dir = open_ours(folder, e);
	bool ok;

	*there = dir >= 0;
	if (dir < 0)
		return errno == ENOENT;
	/* Another process may mark the folder between two looks, or empty it. */
	ok = !marked || is_marked(dir) || is_empty(dir) || is_marked(dir) || (is_older(dir) && !has_others(dir)) ||
	     refuse_foreign(folder, e);
	close(dir);
	return ok;
}

static void make_parents(const char *folder)
{
	char *path = xstrndup(folder, strlen(folder));

	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
	free(path);
}

bool local_folder_make(const char *folder, struct err *e)
{
	bool there, ok;
	int dir, fd;

	if (!local_folder_check(folder, true, &there, e))
		return false;
	make_parents(folder);
	if (!there && mkdir(folder, 0700)) {
		if (errno != EEXIST)
			return err_set(e, ERR_IO, "cannot make %s: %s", folder, strerror(errno));
		/* Somebody else made it since: most likely another `up`. */
		if (!local_folder_check(folder, true, &there, e))
			return false;
	}
	dir = open_ours(folder, e);
	if (dir < 0)
		return err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	fd = openat(dir, MARKER, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* Tokens and keys are in it. */
	ok = (fd >= 0 && fchmod(dir, 0700) == 0) || err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	if (fd >= 0)
		close(fd);
	close(dir);
	return ok;
}

static bool remove_made(int dir, const char *folder, const char *name, struct err *e)
{
	char path[4096];

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return true;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return file_remove_tree(path, false, e);
}

/* The process was killed before it could give the file its name. */
static bool remove_unfinished(int dir, const char *name, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "%s.new", name);
	return unlinkat(dir, path, 0) == 0 || errno == ENOENT || err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
}

bool local_folder_empty(const char *folder, bool *left, struct err *e)
{
	int dir;
	bool there, ok = local_folder_check(folder, true, &there, e);

	*left = false;
	if (!ok || !there)
		return ok;
	dir = open_ours(folder, e);
	if (dir < 0)
		return err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
	for (size_t i = 0; ok && i < ARRAY_LEN(made); i++)
		ok = remove_made(dir, folder, made[i], e) && remove_unfinished(dir, made[i], e);
	ok = ok && remove_made(dir, folder, MARKER, e);
	*left = ok && !is_empty(dir);
	close(dir);
	return ok;
}
