/* The pod's folder, before it is started: spec.json and the volumes' files. */
#include "local/pod/pod.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a container: its last words, and what JSON makes of them. */
enum { SPEC_MAX = 4 << 20, STATE_ROOM = 8 << 10, STATE_OF_CONTAINER = 8 << 10 };

static bool make_folder(const char *path, unsigned mode, struct err *e)
{
	if (mkdir(path, mode) != 0 && errno != EEXIST)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	/* Whatever the umask says. */
	chmod(path, mode);
	return true;
}

static bool write_file(const char *path, struct str text, unsigned mode, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	size_t done = 0;
	ssize_t n = 0;

	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	while (done < text.n && (n = write(fd, text.p + done, text.n - done)) > 0)
		done += (size_t)n;
	if (done < text.n)
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	fchmod(fd, mode);
	close(fd);
	return done == text.n;
}

/* "a/b/c" in a volume: its folders. Paths were checked to stay inside. */
static bool make_folders_of(struct arena *a, struct str top, struct str path, struct err *e)
{
	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] == '/' &&
		    !make_folder(arena_printf(a, "%.*s/%.*s", STR_F(top), (int)i, path.p).p, 0755, e))
			return false;
	return true;
}

static bool make_volume(const char *folder, const struct pod_volume *v, struct arena *a, struct err *e)
{
	struct str top = arena_printf(a, "%s/volumes/%.*s", folder, STR_F(v->name));

	if (v->kind == POD_VOLUME_HOST)
		return true;
	if (!make_folder(top.p, v->read_only ? 0755 : 0777, e))
		return false;
	for (size_t i = 0; i < v->files.n; i++) {
		const struct pod_file *f = &v->files.v[i];

		if (!make_folders_of(a, top, f->path, e) ||
		    !write_file(arena_printf(a, "%.*s/%.*s", STR_F(top), STR_F(f->path)).p, f->data, f->mode, e))
			return false;
	}
	return true;
}

/* Of the first states of it and of the last: one that cannot say how it is would run unseen. */
static bool keep_state_room(const char *folder, const char *name, size_t containers, struct arena *a, struct err *e)
{
	struct str path = arena_printf(a, "%s/%s", folder, name);
	int fd = open(path.p, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool ok = fd >= 0;

	/* Not every file system can. */
	if (ok && fallocate(fd, 0, 0, (off_t)(STATE_ROOM + containers * STATE_OF_CONTAINER)) != 0)
		ok = errno != ENOSPC && errno != EDQUOT;
	if (!ok)
		err_set(e, ERR_IO, "%s: %s", path.p, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

bool pod_prepare(const char *folder, const struct pod_spec *spec, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct buf text = BUF_INIT(SPEC_MAX);
	bool ok = make_folder(folder, 0700, e) && make_folder(arena_printf(&a, "%s/volumes", folder).p, 0700, e);

	for (size_t i = 0; ok && i < spec->volumes.n; i++)
		ok = make_volume(folder, &spec->volumes.v[i], &a, e);
	pod_spec_write(spec, &text);
	if (ok && text.overflow)
		ok = err_set(e, ERR_LIMIT, "the pod is larger than %d bytes", SPEC_MAX);
	/* The environment may hold secrets. */
	ok = ok && write_file(arena_printf(&a, "%s/spec.json", folder).p, buf_str(&text), 0600, e) &&
	     keep_state_room(folder, POD_NEXT_STATE, spec->containers.n, &a, e) &&
	     keep_state_room(folder, POD_LAST_STATE, spec->containers.n, &a, e);
	buf_release(&text);
	arena_release(&a);
	return ok;
}
