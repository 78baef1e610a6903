#include "kind/globals.h"

#include "kind/table.h"

/* The binary form of Lua 5.4's functions, as lua_dump() writes it. What does not look like it ends the
   search without a word: the same mistake is then reported when the line is reached. */
enum {
	VERSION_AT = 4,
	VERSION = 0x54,
	HEADER = 31,
	OP_GETTABUP = 11,
	OP_SETTABUP = 15,
	STRING_SHORT = 0x04,
	STRING_LONG = 0x14,
	NUMBER_FLOAT = 0x13,
	NUMBER_INT = 0x03,
	DUMP_MAX = 64 << 20,
	DEPTH = 100,
};

struct search {
	lua_State *L;
	int env; /* where the table of globals is on the stack */
	const unsigned char *p, *end;
	bool broken;
	struct str file;
	struct arena a;
	struct err *e;
	bool found; /* a mistake */
};

static unsigned char byte(struct search *s)
{
	if (!s->p || s->p >= s->end) {
		s->broken = true;
		return 0;
	}
	return *s->p++;
}

static const unsigned char *bytes(struct search *s, size_t n)
{
	const unsigned char *p = s->p;

	if (n > (size_t)(s->end - s->p)) {
		s->broken = true;
		return NULL;
	}
	s->p += n;
	return p;
}

/* Seven bits in each byte, the last one marked. */
static size_t read_number(struct search *s)
{
	size_t n = 0;

	for (int i = 0; i < 10; i++) {
		unsigned char b = byte(s);

		n = n << 7 | (b & 0x7f);
		if (b & 0x80)
			return n;
	}
	s->broken = true;
	return 0;
}

/* How many things follow, each at least SIZE bytes. */
static size_t read_count(struct search *s, size_t size)
{
	size_t n = read_number(s);

	if (n > (size_t)(s->end - s->p) / size) {
		s->broken = true;
		return 0;
	}
	return n;
}

static struct str text(struct search *s)
{
	size_t n = read_number(s);
	const unsigned char *p;

	if (n == 0 || s->broken)
		return STR_NONE;
	p = bytes(s, n - 1);
	return p ? (struct str){ (const char *)p, n - 1 } : STR_NONE;
}

static struct str constant(struct search *s)
{
	switch (byte(s)) {
	case STRING_SHORT:
	case STRING_LONG:
		return text(s);
	case NUMBER_FLOAT:
	case NUMBER_INT:
		bytes(s, 8);
		return STR_NONE;
	default:
		return STR_NONE;
	}
}

/* Is there such a global? If not, says so. */
static void check_name(struct search *s, struct str name, size_t line, bool assigned)
{
	VEC(struct str) names = { 0 };
	struct str hint;
	bool known;

	lua_pushlstring(s->L, name.p, name.n);
	known = lua_rawget(s->L, s->env) != LUA_TNIL;
	lua_pop(s->L, 1);
	if (known || s->found)
		return;
	s->found = true;
	if (assigned) {
		err_set(s->e, ERR_LUA, "%.*s:%zu: `%.*s` would be a global; write `local %.*s`", STR_F(s->file), line,
		        STR_F(name), STR_F(name));
		return;
	}
	for (lua_pushnil(s->L); lua_next(s->L, s->env); lua_pop(s->L, 1))
		*vec_push(&s->a, &names) = (struct str){ lua_tostring(s->L, -2), lua_rawlen(s->L, -2) };
	hint = table_nearest(name, names.v, names.n);
	err_set(s->e, ERR_LUA, "%.*s:%zu: there is no `%.*s`%s%.*s%s", STR_F(s->file), line, STR_F(name),
	        hint.n ? ", did you mean `" : "", STR_F(hint), hint.n ? "`?" : "");
}

struct function {
	size_t line; /* where it begins */
	const unsigned char *code, *lines;
	size_t n_code, n_lines;
	struct {
		size_t pc, line;
	} * steps; /* lines that are written out, every now and then */
	size_t n_steps;
	const struct str *constants;
	size_t n_constants;
	const struct str *upvalues;
	size_t n_upvalues;
};

static size_t line_of(const struct function *f, size_t pc)
{
	size_t line = f->line, at = 0;

	if (pc >= f->n_lines)
		return f->line;
	for (size_t i = 0; i < f->n_steps && f->steps[i].pc <= pc; i++) {
		line = f->steps[i].line;
		at = f->steps[i].pc + 1;
	}
	for (; at <= pc; at++)
		if (f->lines[at] != 0x80) /* -128: it is written out */
			line += (size_t)(ptrdiff_t)(signed char)f->lines[at];
	return line;
}

static void check_code(struct search *s, const struct function *f)
{
	for (size_t i = 0; i < f->n_code && !s->broken; i++) {
		uint32_t op;
		size_t up, key;

		memcpy(&op, f->code + i * sizeof(op), sizeof(op));
		if ((op & 0x7f) == OP_GETTABUP) {
			up = op >> 16 & 0xff;
			key = op >> 24;
		} else if ((op & 0x7f) == OP_SETTABUP) {
			up = op >> 7 & 0xff;
			key = op >> 16 & 0xff;
		} else {
			continue;
		}
		if (up < f->n_upvalues && key < f->n_constants && str_eq(f->upvalues[up], STR("_ENV")) &&
		    f->constants[key].p)
			check_name(s, f->constants[key], line_of(f, i), (op & 0x7f) == OP_SETTABUP);
	}
}

static struct str *texts(struct search *s, struct str (*read)(struct search *), size_t *n)
{
	struct str *v;

	*n = read_count(s, 1);
	v = arena_array(&s->a, struct str, *n + 1);
	for (size_t i = 0; i < *n && !s->broken; i++)
		v[i] = read(s);
	return v;
}

static void function(struct search *s, int depth);

static void debug_part(struct search *s, struct function *f)
{
	size_t n;

	f->n_lines = read_count(s, 1);
	f->lines = bytes(s, f->n_lines);
	f->n_steps = read_count(s, 2);
	f->steps = arena_alloc(&s->a, sizeof(*f->steps) * (f->n_steps + 1));
	for (size_t i = 0; i < f->n_steps && !s->broken; i++) {
		f->steps[i].pc = read_number(s);
		f->steps[i].line = read_number(s);
	}
	n = read_count(s, 3);
	for (size_t i = 0; i < n && !s->broken; i++) {
		text(s);
		read_number(s);
		read_number(s);
	}
	f->upvalues = texts(s, text, &f->n_upvalues);
}

static void function(struct search *s, int depth)
{
	struct function f = { 0 };
	size_t n;

	if (depth > DEPTH)
		s->broken = true;
	if (s->broken || s->found)
		return;
	text(s); /* the source, of the outermost only */
	f.line = read_number(s);
	read_number(s);
	bytes(s, 3);
	f.n_code = read_count(s, 4);
	f.code = bytes(s, f.n_code * 4);
	f.constants = texts(s, constant, &f.n_constants);
	n = read_count(s, 3);
	bytes(s, n * 3);
	n = read_count(s, 1);
	for (size_t i = 0; i < n && !s->broken && !s->found; i++)
		function(s, depth + 1);
	if (s->found)
		return;
	debug_part(s, &f);
	if (!s->broken)
		check_code(s, &f);
}

static int collect(lua_State *L, const void *p, size_t n, void *cookie)
{
	(void)L;
	buf_put(cookie, (struct str){ p, n });
	return 0;
}

bool globals_check(struct sandbox *sb, struct str file, struct err *e)
{
	struct search s = { .L = sb->L, .file = file, .a = ARENA_INIT, .e = e };
	struct buf dump = BUF_INIT(DUMP_MAX);

	lua_dump(sb->L, collect, &dump, 0);
	lua_getupvalue(sb->L, -1, 1);
	s.env = lua_gettop(sb->L);
	if (!dump.overflow && dump.n > HEADER + 1 && dump.p[VERSION_AT] == VERSION) {
		s.p = (const unsigned char *)dump.p + HEADER + 1;
		s.end = (const unsigned char *)dump.p + dump.n;
		function(&s, 0);
	}
	lua_pop(sb->L, 1);
	buf_release(&dump);
	arena_release(&s.a);
	return !s.found;
}
