/* Where in its file a kind's mistake stands. Once a function has returned, Lua does not know any more which line made
   what it returned; the word that is wrong mostly tells. */
#include "kind/internal.h"

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_word(struct str line, struct str word)
{
	for (size_t i = 0; i + word.n <= line.n; i++)
		if (!memcmp(line.p + i, word.p, word.n) && (!i || !is_word_char(line.p[i - 1])) &&
		    (i + word.n == line.n || !is_word_char(line.p[i + word.n])))
			return true;
	return false;
}

/* The only line from FIRST to LAST with the word; 0: there is none, or there are several. */
static int only_line(struct str text, struct str word, int first, int last)
{
	struct str line;
	int found = 0;

	for (int n = 1; n <= last && str_next(&text, '\n', &line); n++) {
		if (n < first || !has_word(line, word))
			continue;
		if (found)
			return 0;
		found = n;
	}
	return found;
}

int kind_line(struct kinds *k, const struct kind_file *f, enum kind_fn fn, struct str word)
{
	lua_Debug ar = { 0 };
	int line = 0;

	if (f->fns[fn] == LUA_NOREF)
		return 1;
	lua_rawgeti(k->sb.L, LUA_REGISTRYINDEX, f->fns[fn]);
	lua_getinfo(k->sb.L, ">S", &ar);
	if (word.n)
		line = only_line(f->text, word, ar.linedefined, ar.lastlinedefined);
	if (word.n && !line)
		line = only_line(f->text, word, 1, INT32_MAX);
	return line ? line : ar.linedefined;
}

bool kind_blame_word(struct kinds *k, const struct kind_file *f, enum kind_fn fn, struct str word, struct err *e)
{
	return err_wrap(e, "%.*s:%d", STR_F(f->kind.file), kind_line(k, f, fn, word));
}

bool kind_blame(const struct kind_job *kj, struct err *e, const char *what)
{
	enum kind_fn fn = FN_READ;

	while (fn + 1 < FN_COUNT && strcmp(kind_fn_names[fn], what) != 0)
		fn++;
	return kind_blame_word(kj->kinds, kj->file, fn, STR_NONE, e);
}
