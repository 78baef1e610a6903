#include "base/yaml_fault.h"

#include <stdarg.h>

/* libyaml's words, and ours where they say more to somebody who did not write a parser. */
static const struct {
	const char *theirs, *ours;
} reasons[] = {
	{ "mapping values are not allowed in this context",
	  "unexpected ':': put the value in quotes, or fix the indentation" },
	{ "did not find expected key", "expected a key: fix the indentation here or in the lines before" },
	{ "did not find expected '-' indicator",
	  "expected \"- \" of a list: fix the indentation here or in the lines before" },
	{ "could not find expected ':'", "expected ':' after a key" },
	{ "did not find expected ',' or ']'", "expected ',' or ']' in a list" },
	{ "did not find expected ',' or '}'", "expected ',' or '}' in a map" },
	{ "did not find expected node content", "expected a value" },
	{ "block sequence entries are not allowed in this context",
	  "a list cannot begin here: put it on the next line" },
	{ "block mapping entries are not allowed in this context", "a map cannot begin here: put it on the next line" },
	{ "mapping keys are not allowed in this context", "a key is not allowed here: fix the indentation" },
	{ "found unexpected end of stream", "the file ends inside a quoted string" },
	{ "found unexpected document indicator", "the document ends inside a quoted string" },
	{ "did not find expected <document start>", "expected \"---\" or the end of the file" },
	{ "found a tab character that violates indentation", "a tab cannot indent: use spaces" },
	{ "found a tab character where an indentation space is expected", "a tab cannot indent: use spaces" },
	{ "found unknown escape character", "unknown escape in a double-quoted string: write \\\\ for a backslash" },
	{ "found undefined tag handle", "unknown tag" },
};

bool yaml_fault(struct err *e, struct str file, struct yaml_pos at, enum err_code code, const char *fmt, ...)
{
	char reason[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	return err_set(e, code, "%.*s:%zu:%zu: %s", STR_F(file), at.line, at.column, reason);
}

/* Where the byte at OFFSET stands. */
static struct yaml_pos pos_of(struct str text, size_t offset)
{
	struct yaml_pos at = { 1, 1 };

	for (size_t i = 0; i < MIN(offset, text.n); i++) {
		if (text.p[i] == '\n')
			at = (struct yaml_pos){ at.line + 1, 1 };
		else if (((unsigned char)text.p[i] & 0xc0) != 0x80)
			at.column++;
	}
	return at;
}

static bool bad_start(struct err *e, struct str file, const yaml_parser_t *parser, struct yaml_pos at)
{
	/* The parser still holds the character that it could not take: a tab, or one that YAML keeps for itself. */
	char c = (char)*parser->buffer.pointer;

	if (c == '\t')
		return yaml_fault(e, file, at, ERR_INVALID, "a tab cannot indent: use spaces");
	return yaml_fault(e, file, at, ERR_INVALID, "a value cannot begin with %c: put it in quotes", c);
}

bool yaml_fault_of_parser(struct err *e, struct str file, struct str text, const yaml_parser_t *parser)
{
	struct yaml_pos at = { parser->problem_mark.line + 1, parser->problem_mark.column + 1 };
	const char *why = parser->problem ? parser->problem : "not YAML";

	if (parser->error == YAML_MEMORY_ERROR)
		return err_set(e, ERR_IO, "%.*s: out of memory", STR_F(file));
	if (parser->error == YAML_READER_ERROR)
		return yaml_fault(e, file, pos_of(text, parser->problem_offset), ERR_INVALID, "not UTF-8 text: %s",
		                  why);
	if (strcmp(why, "found character that cannot start any token") == 0)
		return bad_start(e, file, parser, at);
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (strcmp(why, reasons[i].theirs) == 0)
			why = reasons[i].ours;
	if (parser->context && parser->context_mark.line + 1 < at.line)
		return yaml_fault(e, file, at, ERR_INVALID, "%s (%s that begins in line %zu)", why, parser->context,
		                  parser->context_mark.line + 1);
	return yaml_fault(e, file, at, ERR_INVALID, "%s", why);
}
