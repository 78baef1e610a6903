/* Changes of files. A folder is watched itself and, by its name, in its parent; a file only in its parent:
   editors and Kubernetes put a new file in the old one's place instead of writing into it. */
#include "loop/internal.h"

#include <sys/stat.h>

enum {
	SETTLE_MS = 50,  /* changes come in flocks */
	RETRY_MS = 1000, /* looks whether a parent that vanished is back */
	HANDLES = 3,
};

struct loop_watch {
	uv_fs_event_t inside, parent;
	uv_timer_t timer;
	struct loop *loop;
	loop_watch_fn fn;
	void *cookie;
	char *path, *folder, *name; /* the folder that NAME is in */
	unsigned handles;
	bool freed, lost;
};

static void on_settle_timer(uv_timer_t *uv);

static void settle(struct loop_watch *w)
{
	if (w->freed || (uv_is_active((uv_handle_t *)&w->timer) && !w->lost))
		return;
	w->lost = false;
	uv_timer_start(&w->timer, on_settle_timer, loop_from_now(w->loop, SETTLE_MS), 0);
}

static void on_inside(uv_fs_event_t *uv, const char *name, int events, int status)
{
	(void)name;
	(void)events;
	(void)status;
	settle(uv->data);
}

static void on_parent(uv_fs_event_t *uv, const char *name, int events, int status)
{
	struct loop_watch *w = uv->data;

	(void)events;
	/* A mounted ConfigMap's files are symlinks through "..data", and only that one is swapped. An event
	   of the parent itself (removed, moved) carries the parent's own name. */
	if (status < 0 || !name || strcmp(name, w->name) == 0 || strncmp(name, "..", 2) == 0 ||
	    str_has_suffix(str_c(w->folder), str_c(name)))
		settle(w);
}

/* Watches what is there now; both stop following a path when what it leads to is replaced. */
static int arm(struct loop_watch *w)
{
	struct stat st;
	int rc;

	uv_fs_event_stop(&w->inside);
	uv_fs_event_stop(&w->parent);
	rc = uv_fs_event_start(&w->parent, on_parent, w->folder, 0);
	if (rc)
		return rc;
	if (stat(w->path, &st) == 0 && S_ISDIR(st.st_mode))
		rc = uv_fs_event_start(&w->inside, on_inside, w->path, 0);
	/* Gone between the two: the parent tells. */
	return rc == UV_ENOENT || rc == UV_ENOTDIR ? 0 : rc;
}

static void on_settle_timer(uv_timer_t *uv)
{
	struct loop_watch *w = uv->data;
	bool was_lost = w->lost;

	w->loop->firing = true;
	w->lost = arm(w) != 0;
	if (w->lost)
		uv_timer_start(&w->timer, on_settle_timer, loop_from_now(w->loop, RETRY_MS), 0);
	/* Armed first: what changes while FN looks is told again. */
	if (!was_lost || !w->lost)
		w->fn(w->cookie);
}

static void split(struct loop_watch *w, const char *path)
{
	size_t n = strlen(path), slash;

	while (n > 1 && path[n - 1] == '/')
		n--;
	w->path = xstrndup(path, n);
	for (slash = n; slash > 0 && path[slash - 1] != '/'; slash--)
		;
	w->name = xstrndup(path + slash, n - slash);
	while (slash > 1 && path[slash - 1] == '/')
		slash--;
	w->folder = slash ? xstrndup(path, slash) : xstrndup(".", 1);
}

struct loop_watch *loop_watch_new(struct loop *l, const char *path, loop_watch_fn fn, void *cookie, struct err *e)
{
	struct loop_watch *w = xcalloc(1, sizeof(*w));
	int rc;

	w->loop = l;
	w->fn = fn;
	w->cookie = cookie;
	w->handles = HANDLES;
	w->inside.data = w->parent.data = w->timer.data = w;
	split(w, path);
	ASSERT(uv_fs_event_init(&l->uv, &w->inside) == 0);
	ASSERT(uv_fs_event_init(&l->uv, &w->parent) == 0);
	ASSERT(uv_timer_init(&l->uv, &w->timer) == 0);
	l->open++;
	rc = arm(w);
	if (rc) {
		err_set(e, ERR_IO, "cannot watch %s: %s", path, uv_strerror(rc));
		loop_watch_free(w);
		return NULL;
	}
	return w;
}

static void on_closed(uv_handle_t *handle)
{
	struct loop_watch *w = handle->data;

	if (--w->handles)
		return;
	free(w->path);
	free(w->folder);
	free(w->name);
	free(w);
}

void loop_watch_free(struct loop_watch *w)
{
	if (!w)
		return;
	ASSERT(!w->freed);
	w->freed = true;
	w->loop->open--;
	uv_close((uv_handle_t *)&w->inside, on_closed);
	uv_close((uv_handle_t *)&w->parent, on_closed);
	uv_close((uv_handle_t *)&w->timer, on_closed);
}
