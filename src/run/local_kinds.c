/* dljob local: the folders of kinds that the cluster was started with. They are reread when they change; others it
   cannot be given while it runs. */
#include "run/local.h"

#include "base/file.h"
#include "base/log.h"
#include "local/api/api.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Files are seldom changed alone. */
static const msec settle = 500;

static struct str full_path(struct cli *cli, const char *dir)
{
	char *full = realpath(dir, NULL);
	struct str ret = arena_str(&cli->arena, str_c(full ? full : dir));

	free(full);
	return ret;
}

static bool write_note(const struct local *l, struct str text, struct err *e)
{
	const char *path = arena_printf(&l->cli->arena, "%s/kinds", l->folder).p;
	const char *new = arena_printf(&l->cli->arena, "%s.new", path).p;
	int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, str_text(text), text.n) == (ssize_t)text.n && rename(new, path) == 0;

	if (!ok)
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

bool local_kinds_note(struct local *l, struct err *e)
{
	struct opt_list dirs = { 0 };
	struct buf text = BUF_INIT(1 << 20);
	bool ok;

	cli_kinds_dirs(l->cli, &dirs);
	for (size_t i = 0; i < dirs.n; i++)
		buf_printf(&text, "%.*s\n", STR_F(full_path(l->cli, dirs.v[i])));
	ok = write_note(l, buf_str(&text), e);
	buf_release(&text);
	opt_list_release(&dirs);
	return ok;
}

static bool is_noted(struct str note, struct str dir)
{
	struct str line;

	while (str_next(&note, '\n', &line))
		if (str_eq(line, dir))
			return true;
	return false;
}

const char *local_kinds_missing(struct local *l)
{
	struct err e = ERR_INIT;
	struct str note;

	if (file_read(&note, arena_printf(&l->cli->arena, "%s/kinds", l->folder).p, &l->cli->arena, &e) != FILE_READ)
		note = STR_NONE;
	err_release(&e);
	for (size_t i = 0; i < l->cli->kinds_dirs.n; i++)
		if (!is_noted(note, full_path(l->cli, l->cli->kinds_dirs.v[i])))
			return l->cli->kinds_dirs.v[i];
	return NULL;
}

struct local_kinds {
	struct cli *cli;
	struct loop_timer *timer;
	struct opt_list dirs;
	struct loop_watch **watches;
	uint64_t hash;
	struct kinds *now; /* NULL: as it was started */
	struct embedded *em;
	struct api *api;
};

static uint64_t hash_all(const struct local_kinds *k)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < k->dirs.n; i++)
		hash = hash * 31 + kinds_dir_hash(k->dirs.v[i]);
	return hash;
}

static void on_change(void *cookie)
{
	struct local_kinds *k = cookie;

	loop_timer_set(k->timer, settle);
}

/* What was served before is served on if the new ones cannot be. */
static void reload(void *cookie)
{
	struct local_kinds *k = cookie;
	uint64_t hash = hash_all(k);
	struct err e = ERR_INIT;
	struct kinds *next;

	if (hash == k->hash)
		return;
	k->hash = hash;
	next = cli_kinds_try(k->cli, &e);
	if (next && embedded_set_kinds(k->em, next, &e)) {
		api_set_kinds(k->api, next);
		kinds_free(k->now);
		k->now = next;
		log_info(NO_FIELDS, "the kinds have changed");
	} else {
		log_error(NO_FIELDS, "the kinds are unchanged: %s", err_msg(&e));
		kinds_free(next);
	}
	err_release(&e);
}

struct local_kinds *local_kinds_watch(struct local *l, struct loop *loop, struct embedded *em, struct api *api)
{
	struct local_kinds *k = xcalloc(1, sizeof(*k));
	struct err e = ERR_INIT;

	*k = (struct local_kinds){ .cli = l->cli, .em = em, .api = api };
	k->timer = loop_timer_new(loop, reload, k);
	cli_kinds_dirs(l->cli, &k->dirs);
	k->hash = hash_all(k);
	k->watches = xcalloc(k->dirs.n + 1, sizeof(struct loop_watch *));
	for (size_t i = 0; i < k->dirs.n; i++) {
		k->watches[i] = loop_watch_new(loop, k->dirs.v[i], on_change, k, &e);
		if (!k->watches[i])
			log_warn(NO_FIELDS, "%s is not reread when it changes: %s", k->dirs.v[i], err_msg(&e));
		err_release(&e);
	}
	return k;
}

void local_kinds_unwatch(struct local_kinds *k)
{
	if (!k || !k->watches)
		return;
	for (size_t i = 0; i < k->dirs.n; i++)
		loop_watch_free(k->watches[i]);
	loop_timer_free(k->timer);
	free(k->watches);
	k->watches = NULL;
}

void local_kinds_free(struct local_kinds *k)
{
	if (!k)
		return;
	opt_list_release(&k->dirs);
	kinds_free(k->now);
	free(k);
}
