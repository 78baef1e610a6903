#include "logs/archive_prune.h"

#include "base/file.h"
#include "logs/archive_path.h"

#include <errno.h>
#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file takes whole blocks, and a folder one of its own: many small logs fill a disk, too. */
enum { FOLDER = 4096, BLOCK = 512 /* what st_blocks counts in */ };

static int by_age(const void *a, const void *b)
{
	const struct archive_item *x = a, *y = b;

	if (x->of_active != y->of_active)
		return x->of_active ? 1 : -1;
	if (x->changed != y->changed)
		return x->changed < y->changed ? -1 : 1;
	return str_cmp(x->path, y->path);
}

uint64_t archive_choose(struct archive_item *v, size_t n, const struct archive_limits *l, msec now)
{
	uint64_t left = 0;

	if (n)
		qsort(v, n, sizeof(*v), by_age);
	for (size_t i = 0; i < n; i++)
		left += v[i].bytes;
	for (size_t i = 0; i < n; i++) {
		bool old = l->age && !v[i].of_active && now - v[i].changed > l->age;
		bool much = l->bytes && left > l->bytes;

		v[i].goes = !v[i].busy && (old || much);
		if (v[i].goes)
			left -= v[i].bytes;
	}
	return left;
}

struct walk {
	const struct archive_use *use;
	struct arena arena;
	VEC(struct archive_item) items;
	size_t run;    /* 1 + the item of the folder that it is in; 0: an active one */
	bool has_file; /* of that folder: one was seen */
};

static msec changed_at(const struct stat *st)
{
	return (msec)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

/* A folder of an active job: nothing to be had of it. */
static void take_folder(struct walk *w, struct str path, uint64_t bytes)
{
	if (w->run)
		w->items.v[w->run - 1].bytes += bytes;
	else
		*vec_push(&w->arena, &w->items) = (struct archive_item){
			.path = arena_str(&w->arena, path), .bytes = bytes, .of_active = true, .busy = true
		};
}

static void enter_run(struct walk *w, struct str path, const struct stat *st)
{
	w->run = 0;
	w->has_file = false;
	if (!w->use || !w->use->active(w->use->cookie, path)) {
		/* An empty one goes by the age of its folder. */
		*vec_push(&w->arena, &w->items) =
			(struct archive_item){ .path = arena_str(&w->arena, path), .changed = changed_at(st) };
		w->run = w->items.n;
	}
	/* With the one above it, which is of the job's name. */
	take_folder(w, path, 2 * (uint64_t)FOLDER);
}

static void take_file(struct walk *w, struct str path, const struct stat *st)
{
	struct archive_item *run = w->run ? &w->items.v[w->run - 1] : NULL;
	uint64_t size = (uint64_t)st->st_size, bytes = MAX(size, (uint64_t)st->st_blocks * BLOCK);
	bool busy = !run && w->use && w->use->active(w->use->cookie, path);

	if (run) {
		run->changed = w->has_file ? MAX(run->changed, changed_at(st)) : changed_at(st);
		run->bytes += bytes;
		w->has_file = true;
		return;
	}
	/* What a file system reserves for one that grows is given back. */
	*vec_push(&w->arena, &w->items) = (struct archive_item){ .path = arena_str(&w->arena, path),
		                                                 .bytes = busy ? size : bytes,
		                                                 .changed = changed_at(st),
		                                                 .of_active = true,
		                                                 .busy = busy };
}

static bool look_at_files(struct walk *w, const char *root, struct err *e)
{
	char *const roots[] = { (char *)(uintptr_t)root, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV, NULL);
	size_t skip = strlen(root) + (root[strlen(root) - 1] != '/');
	FTSENT *at;

	if (!fts)
		return err_set(e, ERR_IO, "%s: %s", root, strerror(errno));
	while ((at = fts_read(fts))) {
		struct str path = str_sub(str_c(at->fts_path), skip, at->fts_pathlen), container;
		struct str name = { at->fts_name, at->fts_namelen };
		int64_t generation;

		if (at->fts_info == FTS_D && at->fts_level > 0 && !archive_part(name))
			fts_set(fts, at, FTS_SKIP);
		else if (at->fts_info == FTS_D && at->fts_level == ARCHIVE_LEVEL_RUN)
			enter_run(w, path, at->fts_statp);
		else if (at->fts_info == FTS_D && at->fts_level > ARCHIVE_LEVEL_RUN)
			take_folder(w, path, FOLDER);
		else if (at->fts_info == FTS_F && at->fts_level == ARCHIVE_LEVEL_FILE &&
		         archive_file_read(name, &generation, &container))
			take_file(w, path, at->fts_statp);
	}
	fts_close(fts);
	return true;
}

/* The folders above it, as far as nothing else is in them. */
static void remove_empty(char *path, size_t root)
{
	for (;;) {
		char *slash = strrchr(path, '/');

		if (!slash || (size_t)(slash - path) <= root)
			return;
		*slash = '\0';
		if (rmdir(path) != 0)
			return;
	}
}

static bool remove_item(const char *root, const struct archive_item *item, struct err *e)
{
	CLEANUP(freep) char *path = xmalloc(strlen(root) + item->path.n + 2);

	snprintf(path, strlen(root) + item->path.n + 2, "%s/%.*s", root, STR_F(item->path));
	if (!item->of_active && !file_remove_tree(path, false, e))
		return false;
	if (item->of_active && unlink(path) != 0 && errno != ENOENT)
		return err_set(e, ERR_IO, "%s cannot be removed: %s", path, strerror(errno));
	remove_empty(path, strlen(root));
	return true;
}

bool archive_prune(const char *dir, const struct archive_limits *l, const struct archive_use *u, msec now,
                   uint64_t *left, struct err *e)
{
	struct walk w = { .use = u };
	size_t n = strlen(dir);
	CLEANUP(freep) char *root = NULL;
	bool ok;

	/* "logs/" is "logs": paths below it begin after one slash. */
	while (n > 1 && dir[n - 1] == '/')
		n--;
	root = xstrndup(dir, n);
	ok = n ? look_at_files(&w, root, e) : err_set(e, ERR_IO, "a folder without a name");
	*left = ok ? archive_choose(w.items.v, w.items.n, l, now) : 0;
	for (size_t i = 0; i < w.items.n && ok; i++)
		if (w.items.v[i].goes)
			ok = remove_item(root, &w.items.v[i], e);
	arena_release(&w.arena);
	return ok;
}
