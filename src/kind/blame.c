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

/* The line of the last name in PATH; where several have it, and OUTER, of the one around it. */
static int line_of_path(struct str text, struct str path, bool outer)
{
	int line = 0;

	do {
		size_t start = path.n;

		while (start && is_word_char(path.p[start - 1]))
			start--;
		/* An index is no name. */
		if (start < path.n && (path.p[start] < '0' || path.p[start] > '9'))
			line = only_line(text, str_sub(path, start, path.n - start), 1, INT32_MAX);
		path.n = start ? start - 1 : 0;
	} while (outer && path.n && !line);
	return line;
}

/* The next word between quotes in *REST. */
static bool next_quoted(struct str *rest, struct str *ret)
{
	size_t end;

	while (rest->n && rest->p[0] != '`' && rest->p[0] != '"')
		*rest = str_sub(*rest, 1, rest->n);
	for (end = 1; end < rest->n && rest->p[end] != rest->p[0];)
		end++;
	if (end >= rest->n)
		return false;
	*ret = str_sub(*rest, 1, end - 1);
	*rest = str_sub(*rest, end + 1, rest->n);
	return true;
}

/* Of the words that MESSAGE names, from `field` to what it must be. What it suggests is not in the file, and what is
   missing neither. */
static int line_of_words(struct str text, struct str message, bool outer)
{
	struct str rest = message, word, where;
	const char *hint = strstr(message.p, "did you mean"), *missing = strstr(message.p, "missing field");
	int line = 0;

	if (hint || missing)
		rest.n = (size_t)((missing ? missing : hint) - message.p);
	while (!line && next_quoted(&rest, &word))
		line = line_of_path(text, word, outer);
	rest = message;
	if (!line && str_next(&rest, ':', &where) && rest.n && !memchr(where.p, ' ', where.n))
		line = line_of_path(text, where, outer);
	return line;
}

/* The line that gives the table. */
static int return_line(struct str text)
{
	struct str line;
	int found = 1;

	for (int n = 1; str_next(&text, '\n', &line); n++)
		if (str_has_prefix(line, STR("return")))
			found = n;
	return found;
}

int kind_load_line(struct str text, const char *message)
{
	int line = line_of_words(text, str_c(message), false);

	if (!line)
		line = line_of_words(text, str_c(message), true);
	return line ? line : return_line(text);
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
