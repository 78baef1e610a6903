#include "program/kinds.h"

#include "base/arena.h"
#include "kind/builtin.h"

#include <dirent.h>
#include <errno.h>

static bool named(const struct kind *k, const char *names)
{
	struct str rest = str_c(names), name;

	if (str_empty(rest))
		return true;
	while (str_next(&rest, ',', &name))
		if (kind_is_named(k, str_trim(name)))
			return true;
	return false;
}

struct chooser {
	const struct operator_flags *flags;
	bool (*choose)(void *cookie, const struct kind *k);
	void *cookie;
	struct kinds *all;    /* everything that there is, to find kinds by name */
	struct kinds *chosen; /* what is asked for */
};

/* The kind that was loaded last. */
static bool wanted(const struct chooser *c)
{
	const struct kind *k = kinds_at(c->all, kinds_count(c->all) - 1);

	return named(k, c->flags->kinds) && (!c->choose || c->choose(c->cookie, k));
}

static bool load_builtins(const struct chooser *c, struct err *e)
{
	for (size_t i = 0; i < n_builtins; i++) {
		struct str text = { (const char *)builtins[i].text, builtins[i].size };

		if (!kinds_load_text(c->all, str_c(builtins[i].file), text, e))
			return false;
		if (wanted(c) && !kinds_load_text(c->chosen, str_c(builtins[i].file), text, e))
			return false;
	}
	return true;
}

static int is_lua(const struct dirent *d)
{
	return d->d_name[0] != '.' && str_has_suffix(str_c(d->d_name), STR(".lua"));
}

static bool load_file(const struct chooser *c, const char *dir, const char *name, struct err *e)
{
	struct arena a = ARENA_INIT;
	const char *path = arena_printf(&a, "%s/%s", dir, name).p;
	bool ok = kinds_load_file(c->all, path, e) && (!wanted(c) || kinds_load_file(c->chosen, path, e));

	arena_release(&a);
	return ok;
}

static bool load_dir(const struct chooser *c, const char *dir, struct err *e)
{
	struct dirent **list;
	int n = scandir(dir, &list, is_lua, alphasort);
	bool ok = true;

	if (n < 0)
		return err_set(e, ERR_IO, "--kinds-dir: %s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		ok = ok && load_file(c, dir, list[i]->d_name, e);
		free(list[i]);
	}
	free(list);
	return ok;
}

uint64_t operator_kinds_hash(const struct operator_flags *f)
{
	uint64_t hash = 0;

	for (size_t d = 0; d < f->kinds_dirs.n; d++)
		hash = hash * 31 + kinds_dir_hash(f->kinds_dirs.v[d]);
	return hash;
}

static bool names_fit(const struct chooser *c, struct err *e)
{
	struct str rest = str_c(c->flags->kinds), name;

	while (str_next(&rest, ',', &name)) {
		bool any = false;

		for (size_t i = 0; i < kinds_count(c->all); i++)
			any = any || kind_is_named(kinds_at(c->all, i), str_trim(name));
		if (!any)
			return err_set(e, ERR_INVALID, "--kinds: there is no kind '%.*s'; see 'dljob kinds'",
			               STR_F(name));
	}
	return true;
}

struct kinds *operator_kinds_load(const struct operator_flags *f, bool (*choose)(void *cookie, const struct kind *k),
                                  void *cookie, struct err *e)
{
	struct chooser c = { f, choose, cookie, kinds_new(NULL), kinds_new(NULL) };
	bool ok = load_builtins(&c, e);

	for (size_t i = 0; ok && i < f->kinds_dirs.n; i++)
		ok = load_dir(&c, f->kinds_dirs.v[i], e);
	ok = ok && names_fit(&c, e);
	kinds_free(c.all);
	if (ok)
		return c.chosen;
	kinds_free(c.chosen);
	return NULL;
}
