#include "local/runner/kept.h"

#include "base/file.h"
#include "base/log.h"
#include "object/labels.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_TEXT = 253, PLACE_TEXT = 3 * NAME_TEXT + 3, KEPT_MAX = 1000000000 };
static const msec prune_time = 25;
/* FOLDER/logs/JOB/NAMESPACE/POD: what is removed at once is a pod's. */
enum { PRUNE_DEPTH = 2 };

/* Whatever it comes from: it is one part of a path, and does not lead away. */
static bool is_safe(struct str s)
{
	if (s.n == 0 || s.n > NAME_TEXT || s.p[0] == '.' || s.p[0] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-' ||
		      s.p[i] == '.'))
			return false;
	return true;
}

/* JOB/NAMESPACE/POD; false: such a pod's logs are not kept. */
static bool place_read(struct str place, struct str *ret_job)
{
	struct str ns, name;

	return str_next(&place, '/', ret_job) && str_next(&place, '/', &ns) && str_next(&place, '/', &name) &&
	       str_empty(place) && is_safe(*ret_job) && is_safe(ns) && is_safe(name);
}

struct str kept_place(struct runner *r, const struct runner_pod *p)
{
	struct str job = json_str(json_at(pod_object(p), "metadata", "labels", LABEL_UID, NULL));
	struct str place = arena_printf(&r->round, "%.*s/%s/%s", STR_F(job), p->ns, p->name);

	return place_read(place, &job) ? place : STR_NONE;
}

static DIR *open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

static struct dirent *next_entry(DIR *dir)
{
	struct dirent *entry;

	do
		entry = readdir(dir);
	while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	return entry;
}

/* The number of a folder with logs in PATH; false: it is something else, perhaps half made. */
static bool number_read(const char *path, const char *name, int64_t *ret)
{
	char text[PATH_MAX];
	struct stat st;

	if (!str_int(str_c(name), ret) || *ret < 0 || *ret > KEPT_MAX)
		return false;
	snprintf(text, sizeof(text), "%lld", (long long)*ret);
	if (strcmp(text, name) != 0)
		return false;
	snprintf(text, sizeof(text), "%s/%s/logs", path, name);
	return lstat(text, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The highest number below BELOW; -1: there is none. */
static int64_t last_in(const char *path, int64_t below)
{
	DIR *dir = open_folder(path);
	struct dirent *entry;
	int64_t last = -1, n;

	while (dir && (entry = next_entry(dir)))
		if (number_read(path, entry->d_name, &n) && n < below)
			last = MAX(last, n);
	if (dir)
		closedir(dir);
	return last;
}

/* Links and files go, too. */
static bool remove_all(const char *path, struct err *e)
{
	return unlink(path) == 0 || file_remove_tree(path, false, e);
}

/* All but LAST goes: what is older, and what was half made when somebody was killed. */
static bool make_room(struct runner *r, const char *path, int64_t last, struct err *e)
{
	DIR *dir = open_folder(path);
	struct dirent *entry;
	bool ok = true;
	int64_t n;

	while (ok && dir && (entry = next_entry(dir)))
		if (!number_read(path, entry->d_name, &n) || n != last)
			ok = remove_all(arena_printf(&r->round, "%s/%s", path, entry->d_name).p, e);
	if (dir)
		closedir(dir);
	return ok;
}

/* FOLDER/logs/PLACE/N, with all that leads to it. */
static bool make_folders(struct str path, size_t from, struct err *e)
{
	char text[PATH_MAX];

	for (size_t i = from; i <= path.n; i++) {
		if (i < path.n && path.p[i] != '/')
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)i, path.p);
		if (mkdir(text, 0700) != 0 && errno != EEXIST)
			return err_set(e, ERR_IO, "%s: %s", text, strerror(errno));
	}
	return true;
}

/* A rename is all or nothing; killed before it, the next one begins anew, killed after it, there is nothing to do. */
static bool move(struct runner *r, const char *from, struct str place, struct err *e)
{
	const char *path = arena_printf(&r->round, "%.*s/logs/%.*s", STR_F(r->folder), STR_F(place)).p;
	int64_t last = last_in(path, KEPT_MAX);
	struct str to = arena_printf(&r->round, "%s/%lld", path, (long long)last + 1);

	return make_room(r, path, last, e) && make_folders(to, r->folder.n + 1, e) &&
	       (rename(from, arena_printf(&r->round, "%.*s/logs", STR_F(to)).p) == 0 ||
	        err_set(e, ERR_IO, "%s: %s", from, strerror(errno)));
}

static void keep_logs(struct runner *r, const struct runner_pod *p)
{
	const char *from = arena_printf(&r->round, "%s/logs", p->folder).p;
	struct err e = ERR_INIT;
	char place[PLACE_TEXT];
	struct str job;
	ssize_t n;

	n = readlink(arena_printf(&r->round, "%s/job", p->folder).p, place, sizeof(place));
	if (n <= 0 || !place_read((struct str){ place, (size_t)n }, &job) || !map_get(&r->jobs, job))
		return;
	/* It has none, or has written nothing. */
	if (rmdir(from) == 0 || errno == ENOENT)
		return;
	if (!move(r, from, (struct str){ place, (size_t)n }, &e))
		log_warn(FIELDS(F_STR("pod", str_c(p->name))), "its logs are not kept: %s", err_msg(&e));
	err_release(&e);
}

bool kept_remove_pod(struct runner *r, const struct runner_pod *p, struct err *e)
{
	if (!r->c.tied)
		keep_logs(r, p);
	return file_remove_tree(p->folder, false, e);
}

/* Jobs that exist */

void kept_take_job(struct runner *r, yyjson_val *job, enum store_change change)
{
	struct str uid = json_str(json_at(job, "metadata", "uid", NULL));
	char *known = map_get(&r->jobs, uid);

	if (change == STORE_DELETED) {
		map_del(&r->jobs, uid);
		free(known);
		r->prune_due = true;
	} else if (!known && uid.n) {
		known = xstrndup(uid.p, uid.n);
		map_put(&r->jobs, str_c(known), known);
	}
}

void kept_free(struct runner *r)
{
	struct str uid;
	size_t at = 0;
	void *v;

	while (map_next(&r->jobs, &at, &uid, &v))
		free(v);
	map_release(&r->jobs);
}

/* False: the time is over before it is all gone. */
static bool prune_in(struct runner *r, const char *path, int depth)
{
	struct err e = ERR_INIT;
	struct dirent *entry;
	bool whole = true;
	DIR *dir;

	if (loop_now(r->c.loop) >= r->now + prune_time)
		return false;
	dir = depth > 0 ? open_folder(path) : NULL;
	while (whole && dir && (entry = next_entry(dir)))
		whole = prune_in(r, arena_printf(&r->round, "%s/%s", path, entry->d_name).p, depth - 1);
	if (dir)
		closedir(dir);
	if (whole && !remove_all(path, &e))
		log_warn(NO_FIELDS, "old logs cannot be removed: %s", err_msg(&e));
	err_release(&e);
	return whole;
}

void kept_prune(struct runner *r)
{
	const char *path = arena_printf(&r->round, "%.*s/logs", STR_F(r->folder)).p;
	DIR *dir = r->prune_due ? open_folder(path) : NULL;
	struct dirent *entry;

	r->prune_due = false;
	while (!r->prune_due && dir && (entry = next_entry(dir)))
		if (!map_get(&r->jobs, str_c(entry->d_name)))
			r->prune_due =
				!prune_in(r, arena_printf(&r->round, "%s/%s", path, entry->d_name).p, PRUNE_DEPTH);
	if (dir)
		closedir(dir);
	if (r->prune_due)
		runner_wake_at(r, r->now);
}

/* Finding them */

static int64_t time_of(const char *path, int64_t n)
{
	char text[PATH_MAX + 32];
	struct stat st;

	snprintf(text, sizeof(text), "%s/%lld", path, (long long)n);
	return lstat(text, &st) == 0 ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : 0;
}

bool runner_kept_logs(const char *folder, struct str ns, struct str name, int before, struct buf *ret)
{
	char path[PATH_MAX], newest[PATH_MAX] = "";
	int64_t newest_time = -1, n = KEPT_MAX;
	struct dirent *entry;
	DIR *dir;

	if (!is_safe(ns) || !is_safe(name))
		return false;
	snprintf(path, sizeof(path), "%s/logs", folder);
	dir = open_folder(path);
	while (dir && (entry = next_entry(dir))) {
		int64_t last, time;

		snprintf(path, sizeof(path), "%s/logs/%s/%.*s/%.*s", folder, entry->d_name, STR_F(ns), STR_F(name));
		last = last_in(path, KEPT_MAX);
		time = last < 0 ? -1 : time_of(path, last);
		if (time > newest_time) {
			newest_time = time;
			memcpy(newest, path, sizeof(newest));
		}
	}
	if (dir)
		closedir(dir);
	for (int i = 0; i <= before && n >= 0 && *newest; i++)
		n = last_in(newest, n);
	if (!*newest || n < 0)
		return false;
	buf_printf(ret, "%s/%lld", newest, (long long)n);
	return true;
}
