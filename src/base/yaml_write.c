/* A JSON tree as YAML for people, in the layout of kubectl. */
#include "base/yaml.h"
#include "base/yaml_scalar.h"

/* Readers look no further than 1024 characters for the ':' of a key. */
enum { LONGEST_SIMPLE_KEY = 1000, STEP = 2 };

enum style { PLAIN, SINGLE, DOUBLE, LITERAL };

/* Which characters a text holds, as far as they decide how it can be written. */
struct look {
	bool special;    /* must be escaped */
	bool lines;      /* more than one */
	bool loose_ends; /* blanks before a line's end */
	bool syntax;     /* ": ", " #" and the like */
};

static unsigned code_point(struct str s, size_t n)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	unsigned c = (unsigned char)s.p[0] & first[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s.p[i] & 0x3f);
	return c;
}

/* Not printable, or a line break to some readers, or invisible, or it turns the direction of text. */
static bool must_escape(unsigned c)
{
	return (c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || (c & 0xfffe) == 0xfffe;
}

/* Printable ASCII that says nothing, whatever follows it: nearly all there is. */
static bool is_quiet(char c)
{
	return c > ' ' && c < 0x7f && c != ':';
}

static struct look look_at(struct str s)
{
	struct look l = { 0 };

	for (size_t i = 0, n; i < s.n; i += n) {
		char next;
		unsigned c;

		n = 1;
		if (is_quiet(s.p[i]))
			continue;
		n = str_utf8_len(str_sub(s, i, s.n));
		if (n == 0) {
			n = 1;
			l.special = true;
			continue;
		}
		c = code_point(str_sub(s, i, n), n);
		next = i + n < s.n ? s.p[i + n] : '\n';
		l.special |= must_escape(c) && c != '\t';
		l.lines |= c == '\n';
		l.loose_ends |= (c == ' ' || c == '\t') && next == '\n';
		l.syntax |= c == '\t' || (c == ':' && (next == ' ' || next == '\n' || next == '\t')) ||
		            (c == ' ' && next == '#');
	}
	return l;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Would some reader, ours or an older or newer one, take it for something else than a string? */
static bool ambiguous(struct str s)
{
	size_t i = 0;

	if (yaml_plain(s).type != YAML_STRING || str_eqc(s, "=") || str_eqc(s, "<<"))
		return true;
	/* Dates and, in YAML 1.1, numbers to base 60 (12:30:45). */
	i += s.p[0] == '-' || s.p[0] == '+';
	while (i < s.n && (is_digit(s.p[i]) || s.p[i] == ':' || s.p[i] == '_' || s.p[i] == '.'))
		i++;
	if (i == s.n && is_digit(s.p[i - 1]) && memchr(s.p, ':', s.n))
		return true;
	return s.n > 5 && is_digit(s.p[0]) && is_digit(s.p[1]) && is_digit(s.p[2]) && is_digit(s.p[3]) &&
	       s.p[4] == '-' && is_digit(s.p[5]);
}

static bool starts_like_syntax(struct str s)
{
	/* "-x" is text, "- x" and "-" are not. */
	if (s.p[0] == '-')
		return s.n == 1 || s.p[1] == ' ' || str_has_prefix(s, STR("---"));
	return s.p[0] == ' ' || strchr("?:,[]{}#&*!|>'\"%@`", s.p[0]) || str_has_prefix(s, STR("..."));
}

static enum style style_of(struct str s, bool block)
{
	struct look l = look_at(s);

	if (l.special || s.n == 0)
		return DOUBLE;
	if (l.lines) {
		bool blank_start = s.p[0] == ' ' || s.p[0] == '\n' || s.p[0] == '\t';

		return block && !l.loose_ends && !blank_start ? LITERAL : DOUBLE;
	}
	if (ambiguous(s))
		return DOUBLE;
	if (l.syntax && memchr(s.p, '\t', s.n))
		return DOUBLE;
	return l.syntax || l.loose_ends || starts_like_syntax(s) ? SINGLE : PLAIN;
}

static void put_single(struct str s, struct buf *out)
{
	struct str part;
	bool first = true;

	buf_putc(out, '\'');
	while (str_next(&s, '\'', &part)) {
		buf_put(out, first ? STR("") : STR("''"));
		buf_put(out, part);
		first = false;
	}
	buf_putc(out, '\'');
}

static void put_double(struct str s, struct buf *out)
{
	buf_putc(out, '"');
	for (size_t i = 0, n; i < s.n; i += n) {
		unsigned c = 0xfffd;

		n = str_utf8_len(str_sub(s, i, s.n));
		if (n)
			c = code_point(str_sub(s, i, n), n);
		else
			n = 1;
		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", (char)c);
		else if (c == '\n')
			buf_put(out, STR("\\n"));
		else if (c == '\t')
			buf_put(out, STR("\\t"));
		else if (c == '\r')
			buf_put(out, STR("\\r"));
		else if (must_escape(c) || c == 0xfffd)
			buf_printf(out, c > 0xffff ? "\\U%08X" : c > 0xff ? "\\u%04X" : "\\x%02X", c);
		else
			buf_put(out, str_sub(s, i, n));
	}
	buf_putc(out, '"');
}

static void put_indent(size_t indent, struct buf *out)
{
	while (indent-- > 0)
		buf_putc(out, ' ');
}

static void put_literal(struct str s, size_t indent, struct buf *out)
{
	bool ends = s.p[s.n - 1] == '\n', more = ends && s.p[s.n - 2] == '\n';
	struct str line;

	buf_put(out, more ? STR("|+") : ends ? STR("|") : STR("|-"));
	if (ends)
		s.n--;
	while (str_next(&s, '\n', &line)) {
		buf_putc(out, '\n');
		if (line.n)
			put_indent(indent, out);
		buf_put(out, line);
	}
}

/* INDENT is where the lines of a block would begin; BLOCK is false where none may stand. */
static void put_scalar(struct str s, size_t indent, bool block, struct buf *out)
{
	switch (style_of(s, block)) {
	case PLAIN:
		buf_put(out, s);
		break;
	case SINGLE:
		put_single(s, out);
		break;
	case DOUBLE:
		put_double(s, out);
		break;
	case LITERAL:
		put_literal(s, indent, out);
		break;
	}
}

static void put_value(yyjson_val *val, size_t indent, struct buf *out);

static bool is_block(yyjson_val *val)
{
	return yyjson_arr_size(val) + yyjson_obj_size(val) > 0;
}

static void put_list(yyjson_val *list, size_t indent, struct buf *out)
{
	yyjson_val *val;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, val)
	{
		if (i) {
			buf_putc(out, '\n');
			put_indent(indent, out);
		}
		buf_put(out, STR("- "));
		put_value(val, indent + STEP, out);
	}
}

static void put_key(struct str key, size_t indent, struct buf *out)
{
	struct buf text = BUF_INIT(out->max);

	put_scalar(key, 0, false, &text);
	if (text.n <= LONGEST_SIMPLE_KEY) {
		buf_put(out, buf_str(&text));
	} else {
		buf_put(out, STR("? "));
		buf_put(out, buf_str(&text));
		buf_putc(out, '\n');
		put_indent(indent, out);
	}
	buf_putc(out, ':');
	buf_release(&text);
}

static void put_map(yyjson_val *map, size_t indent, struct buf *out)
{
	yyjson_val *key, *val;
	size_t i, max;

	yyjson_obj_foreach(map, i, max, key, val)
	{
		/* The items of a list stand under the key, not further in. */
		size_t inner = yyjson_is_arr(val) ? indent : indent + STEP;

		if (i) {
			buf_putc(out, '\n');
			put_indent(indent, out);
		}
		put_key(json_str(key), indent, out);
		if (is_block(val)) {
			buf_putc(out, '\n');
			put_indent(inner, out);
		} else {
			buf_putc(out, ' ');
		}
		put_value(val, inner, out);
	}
}

/* Writes VAL where the pen stands; lines that follow begin at INDENT. No line break at the end. */
static void put_value(yyjson_val *val, size_t indent, struct buf *out)
{
	if (yyjson_is_str(val))
		put_scalar(json_str(val), MAX(indent, (size_t)STEP), true, out);
	else if (is_block(val) && yyjson_is_arr(val))
		put_list(val, indent, out);
	else if (is_block(val))
		put_map(val, indent, out);
	else
		json_write_val(val, out);
}

void yaml_write(yyjson_val *val, struct buf *out)
{
	put_value(val, 0, out);
	buf_putc(out, '\n');
}
