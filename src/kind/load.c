/* Loading: a file returns one table; everything in it is checked here, so that a slip of the pen is
   found when the operator starts and not when a job comes by. */
#include "base/file.h"
#include "kind/globals.h"
#include "kind/internal.h"
#include "kind/table.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum { KIND_FILE_MAX = 1 << 20, SHORT_MAX = 16, LABEL_VALUE_MAX = 63 };

const char *const kind_fn_names[FN_COUNT] = {
	[FN_READ] = "read",     [FN_NAMES] = "names",         [FN_ONCE] = "once",
	[FN_POD] = "pod",       [FN_CONTAINER] = "container", [FN_SERVICE] = "service",
	[FN_STATUS] = "status", [FN_ADOPT] = "adopt",         [FN_WRITE] = "write",
};

static const struct table_key kind_keys[] = {
	{ "group", LUA_TSTRING, true },    { "version", LUA_TSTRING, true },      { "kind", LUA_TSTRING, true },
	{ "plural", LUA_TSTRING, true },   { "singular", LUA_TSTRING, false },    { "short", LUA_TTABLE, false },
	{ "spec", LUA_TTABLE, true },      { "columns", LUA_TTABLE, false },      { "job_labels", LUA_TBOOLEAN, false },
	{ "read", LUA_TFUNCTION, true },   { "names", LUA_TFUNCTION, true },      { "once", LUA_TFUNCTION, false },
	{ "pod", LUA_TFUNCTION, true },    { "container", LUA_TFUNCTION, false }, { "service", LUA_TFUNCTION, false },
	{ "status", LUA_TFUNCTION, true }, { "adopt", LUA_TFUNCTION, false },     { "write", LUA_TFUNCTION, false },
	{ "endings", LUA_TTABLE, false },
};

static const struct table_key column_keys[] = {
	{ "name", LUA_TSTRING, true },
	{ "type", LUA_TSTRING, true },
	{ "path", LUA_TSTRING, true },
};

struct kinds *kinds_new(const struct kind_limits *limits)
{
	struct kinds *k = xcalloc(1, sizeof(*k));

	sandbox_open(&k->sb, limits ? limits : &kind_limits_default);
	k->sizes = kind_sizes_default;
	return k;
}

void kinds_free(struct kinds *k)
{
	if (!k)
		return;
	sandbox_close(&k->sb);
	arena_release(&k->arena);
	free(k);
}

void kinds_freep(struct kinds **k)
{
	kinds_free(*k);
}

void kinds_set_accelerators(struct kinds *k, const struct accelerators *a)
{
	k->accelerators = a && accelerators_count(a) ? a : NULL;
}

void kinds_set_gang(struct kinds *k, struct str scheduler)
{
	k->gang_scheduler = arena_str(&k->arena, scheduler);
}

size_t kinds_count(const struct kinds *k)
{
	return k->files.n;
}

const struct kind *kinds_at(const struct kinds *k, size_t i)
{
	ASSERT(i < k->files.n);
	return &k->files.v[i]->kind;
}

const struct kind *kinds_find(const struct kinds *k, struct str api_version, struct str kind)
{
	for (size_t i = 0; i < k->files.n; i++) {
		const struct kind *c = &k->files.v[i]->kind;

		if (str_eq(kind, c->kind) && api_version.n == c->group.n + 1 + c->version.n &&
		    str_has_prefix(api_version, c->group) && api_version.p[c->group.n] == '/' &&
		    str_has_suffix(api_version, c->version))
			return c;
	}
	return NULL;
}

const struct kind *kinds_by_id(const struct kinds *k, struct str id)
{
	for (size_t i = 0; i < k->files.n; i++)
		if (str_eq(id, k->files.v[i]->kind.id))
			return &k->files.v[i]->kind;
	return NULL;
}

bool kind_is_named(const struct kind *k, struct str name)
{
	struct str rest = name, plural;

	if (str_eq_nocase(name, k->kind) || str_eq_nocase(name, k->plural) || str_eq_nocase(name, k->singular) ||
	    str_eq_nocase(name, k->id))
		return true;
	for (size_t i = 0; i < k->n_short_names; i++)
		if (str_eq_nocase(name, k->short_names[i]))
			return true;
	return str_next(&rest, '.', &plural) && plural.n < name.n && str_eq_nocase(rest, k->group) &&
	       (str_eq_nocase(plural, k->plural) || str_eq_nocase(plural, k->singular));
}

/* --- what a file says of itself --- */

static bool is_group(struct str s)
{
	struct str rest = s, part = STR_NONE;
	int labels = 0;

	while (str_next(&rest, '.', &part)) {
		if (!str_is_dns_label(part, false))
			return false;
		labels++;
	}
	return labels > 1;
}

static bool is_camel(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool letter = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z');

		if (!letter && (i == 0 || s.p[i] < '0' || s.p[i] > '9'))
			return false;
	}
	return s.n > 0;
}

static struct str lower_copy(struct arena *a, struct str s)
{
	char *p = arena_raw(a, s.n + 1);

	for (size_t i = 0; i < s.n; i++)
		p[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] - 'A' + 'a') : s.p[i];
	p[s.n] = 0;
	return (struct str){ p, s.n };
}

static bool load_identity(struct kind *k, lua_State *L, struct arena *a, struct err *e)
{
	k->group = arena_str(a, value_field_str(L, -1, "group"));
	k->version = arena_str(a, value_field_str(L, -1, "version"));
	k->kind = arena_str(a, value_field_str(L, -1, "kind"));
	k->plural = arena_str(a, value_field_str(L, -1, "plural"));
	k->singular = arena_str(a, value_field_str(L, -1, "singular"));
	if (!k->singular.n)
		k->singular = lower_copy(a, k->kind);
	k->id = arena_printf(a, "%.*s.%.*s", STR_F(k->kind), STR_F(k->group));
	if (!is_group(k->group))
		return err_set(e, ERR_LUA, "`group` must be a domain such as example.org, not \"%.*s\"",
		               STR_F(k->group));
	if (!str_is_dns_label(k->version, true))
		return err_set(e, ERR_LUA, "`version` must be like v1 or v1beta1, not \"%.*s\"", STR_F(k->version));
	if (!is_camel(k->kind))
		return err_set(e, ERR_LUA, "`kind` must be letters and digits, not \"%.*s\"", STR_F(k->kind));
	if (!str_is_dns_label(k->plural, true) || !str_is_dns_label(k->singular, true))
		return err_set(e, ERR_LUA, "`plural` and `singular` must be lower case letters and digits");
	if (k->id.n > LABEL_VALUE_MAX)
		return err_set(e, ERR_LUA, "\"%.*s\" has %zu characters and is used as a label's value: at most %d",
		               STR_F(k->id), k->id.n, LABEL_VALUE_MAX);
	if (!table_strs(L, "short", a, &k->short_names, &k->n_short_names, STR_NONE, e))
		return false;
	for (size_t i = 0; i < k->n_short_names; i++)
		if (!str_is_dns_label(k->short_names[i], true))
			return err_set(e, ERR_LUA, "`short` has \"%.*s\", which is not a name",
			               STR_F(k->short_names[i]));
	return true;
}

static int by_annotation(const void *a, const void *b)
{
	return str_cmp(((const struct end_word *)a)->annotation, ((const struct end_word *)b)->annotation);
}

static bool load_ending(lua_State *L, struct arena *a, struct end_word *ret, struct err *e)
{
	size_t n;

	if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
		return err_set(e, ERR_LUA, "`endings` must be a table of annotation = final phase");
	ret->annotation.p = lua_tolstring(L, -2, &ret->annotation.n);
	ret->annotation = arena_str(a, ret->annotation);
	ret->end = external_parse((struct str){ lua_tolstring(L, -1, &n), n });
	if (ret->end == EXTERNAL_NONE)
		return err_set(e, ERR_LUA,
		               "`endings.%.*s` must be Preempted, Failed, NodeFailed, Succeeded or TimedOut",
		               STR_F(ret->annotation));
	return true;
}

/* What ends jobs of this kind alone: elsewhere the same annotation may mean anything. */
static bool load_endings(struct kind *k, lua_State *L, struct arena *a, struct err *e)
{
	VEC(struct end_word) words = { 0 };
	bool ok = true;

	if (table_get(L, "endings") == LUA_TTABLE)
		for (lua_pushnil(L); ok && lua_next(L, -2); lua_pop(L, 1)) {
			ok = load_ending(L, a, vec_push(a, &words), e);
			if (!ok)
				lua_pop(L, 1);
		}
	lua_pop(L, 1);
	if (ok && words.n)
		qsort(words.v, words.n, sizeof(*words.v), by_annotation);
	k->end_words = words.v;
	k->n_end_words = words.n;
	return ok;
}

static bool load_columns(struct kind_file *f, lua_State *L, struct arena *a, struct err *e)
{
	VEC(struct kind_column) columns = { 0 };
	bool ok = true;

	if (table_get(L, "columns") == LUA_TNIL) {
		lua_pop(L, 1);
		return true;
	}
	for (lua_Integer i = 1; ok && lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		struct str where = arena_printf(a, "columns[%lld]", (long long)i);

		ok = lua_type(L, -1) == LUA_TTABLE ? table_check(L, column_keys, ARRAY_LEN(column_keys), 0, where, e)
		                                   : err_set(e, ERR_LUA, "%.*s must be a table", STR_F(where));
		if (ok)
			*vec_push(a, &columns) = (struct kind_column){
				arena_str(a, value_field_str(L, -1, "name")),
				arena_str(a, value_field_str(L, -1, "type")),
				arena_str(a, value_field_str(L, -1, "path")),
			};
		lua_pop(L, 1);
	}
	lua_pop(L, ok ? 2 : 1);
	f->columns = columns.v;
	f->n_columns = columns.n;
	return ok;
}

static bool load_spec(struct kind_file *f, struct sandbox *sb, struct arena *a, struct err *e)
{
	bool ok;

	table_get(sb->L, "spec");
	ok = schema_load(&f->spec, sb, a, STR("spec"), e);
	lua_pop(sb->L, 1);
	if (!ok)
		return false;
	if (f->spec.type != SCHEMA_OBJECT && f->spec.type != SCHEMA_ARRAY)
		return err_set(e, ERR_LUA, "`spec` must be an object or an array");
	f->kind.spec_is_array = f->spec.type == SCHEMA_ARRAY;
	for (size_t i = 0; i < f->spec.n_fields; i++)
		if (str_eq(f->spec.fields[i].name, STR("policy")))
			return err_set(e, ERR_LUA, "`spec.policy` is common to all kinds and cannot be declared");
	return true;
}

static bool is_new(const struct kinds *k, const struct kind *kind, struct err *e)
{
	for (size_t i = 0; i < k->files.n; i++) {
		const struct kind *c = &k->files.v[i]->kind;

		if (str_eq(c->id, kind->id))
			return err_set(e, ERR_LUA, "%.*s is already defined in %.*s", STR_F(kind->id), STR_F(c->file));
		if (str_eq(c->group, kind->group) && str_eq(c->plural, kind->plural))
			return err_set(e, ERR_LUA, "the plural %.*s.%.*s is already used in %.*s", STR_F(kind->plural),
			               STR_F(kind->group), STR_F(c->file));
	}
	return true;
}

/* The table is at the top of the stack and stays. */
static bool load_table(struct kinds *k, struct kind_file *f, struct err *e)
{
	lua_State *L = k->sb.L;

	if (!table_check(L, kind_keys, ARRAY_LEN(kind_keys), 0, STR_NONE, e) ||
	    !load_identity(&f->kind, L, &k->arena, e) || !load_spec(f, &k->sb, &k->arena, e) ||
	    !load_endings(&f->kind, L, &k->arena, e) || !load_columns(f, L, &k->arena, e) || !is_new(k, &f->kind, e))
		return false;
	f->job_labels = table_bool(L, "job_labels");
	for (int i = 0; i < FN_COUNT; i++) {
		f->fns[i] = LUA_NOREF;
		if (table_get(L, kind_fn_names[i]) == LUA_TFUNCTION)
			f->fns[i] = luaL_ref(L, LUA_REGISTRYINDEX);
		else
			lua_pop(L, 1);
	}
	return true;
}

bool kinds_load_text(struct kinds *k, struct str file, struct str text, struct err *e)
{
	struct kind_file *f = arena_new(&k->arena, struct kind_file);
	bool ok;

	if (text.n > KIND_FILE_MAX)
		return err_set(e, ERR_LIMIT, "%.*s: larger than 1 MiB", STR_F(file));
	f->kind.file = arena_str(&k->arena, file);
	f->text = arena_str(&k->arena, text);
	if (!sandbox_load(&k->sb, f->kind.file, text, e))
		return false;
	if (!globals_check(&k->sb, f->kind.file, e)) {
		lua_pop(k->sb.L, 1);
		return false;
	}
	if (!sandbox_call(&k->sb, 0, 1, f->kind.file, "load", e))
		return false;
	if (lua_type(k->sb.L, -1) != LUA_TTABLE)
		ok = err_set(e, ERR_LUA, "the file must return a table");
	else
		ok = load_table(k, f, e);
	lua_pop(k->sb.L, 1);
	if (!ok)
		return err_wrap(e, "%.*s:%d", STR_F(file), kind_load_line(f->text, err_msg(e)));
	*vec_push(&k->arena, &k->files) = f;
	return true;
}

static bool read_all(int fd, struct buf *b)
{
	char part[8192];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0 && !b->overflow)
		buf_put(b, (struct str){ part, (size_t)n });
	return n >= 0;
}

bool kinds_load_file(struct kinds *k, const char *path, struct err *e)
{
	struct buf b = BUF_INIT(KIND_FILE_MAX);
	int fd = file_open_regular(path, e);
	bool ok;

	if (fd < 0)
		return false;
	if (!read_all(fd, &b))
		ok = err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	else if (b.overflow)
		ok = err_set(e, ERR_LIMIT, "%s: larger than 1 MiB", path);
	else
		ok = kinds_load_text(k, str_c(path), buf_str(&b), e);
	close(fd);
	buf_release(&b);
	return ok;
}

static int is_lua(const struct dirent *d)
{
	return d->d_name[0] != '.' && str_has_suffix(str_c(d->d_name), STR(".lua"));
}

static int by_file_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

bool kinds_load_dir(struct kinds *k, const char *dir, struct err *e)
{
	struct dirent **list;
	int n = scandir(dir, &list, is_lua, by_file_name);
	bool ok = true;

	if (n < 0)
		return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		if (ok && snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name) >= (int)sizeof(path))
			ok = err_set(e, ERR_IO, "%s/%s: the path is too long", dir, list[i]->d_name);
		else if (ok)
			ok = kinds_load_file(k, path, e);
		free(list[i]);
	}
	free(list);
	return ok;
}

static uint64_t hash_file(uint64_t hash, const char *dir, const char *name)
{
	char path[PATH_MAX], piece[4096];
	struct err e = ERR_INIT;
	int fd = -1;
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path))
		fd = file_open_regular(path, &e);
	hash = hash * 31 + str_hash(str_c(name));
	while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
		hash = hash * 31 + str_hash((struct str){ piece, (size_t)n });
	if (fd >= 0)
		close(fd);
	err_release(&e);
	return hash;
}

uint64_t kinds_dir_hash(const char *dir)
{
	struct dirent **list;
	int n = scandir(dir, &list, is_lua, by_file_name);
	uint64_t hash = 0;

	for (int i = 0; i < n; i++) {
		hash = hash_file(hash, dir, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return hash;
}
