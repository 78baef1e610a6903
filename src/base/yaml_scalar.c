#include "base/yaml_scalar.h"

#include <math.h>

static const struct {
	struct str text;
	struct yaml_scalar scalar;
} words[] = {
/* clang-format off */
#define WORD(word, ...) { STR_INIT(word), { __VA_ARGS__ } }
	/* clang-format on */
	WORD("", YAML_NULL),
	WORD("~", YAML_NULL),
	WORD("null", YAML_NULL),
	WORD("Null", YAML_NULL),
	WORD("NULL", YAML_NULL),
	WORD("y", YAML_BOOL, .truth = true),
	WORD("Y", YAML_BOOL, .truth = true),
	WORD("yes", YAML_BOOL, .truth = true),
	WORD("Yes", YAML_BOOL, .truth = true),
	WORD("YES", YAML_BOOL, .truth = true),
	WORD("on", YAML_BOOL, .truth = true),
	WORD("On", YAML_BOOL, .truth = true),
	WORD("ON", YAML_BOOL, .truth = true),
	WORD("true", YAML_BOOL, .truth = true),
	WORD("True", YAML_BOOL, .truth = true),
	WORD("TRUE", YAML_BOOL, .truth = true),
	WORD("n", YAML_BOOL, .truth = false),
	WORD("N", YAML_BOOL, .truth = false),
	WORD("no", YAML_BOOL, .truth = false),
	WORD("No", YAML_BOOL, .truth = false),
	WORD("NO", YAML_BOOL, .truth = false),
	WORD("off", YAML_BOOL, .truth = false),
	WORD("Off", YAML_BOOL, .truth = false),
	WORD("OFF", YAML_BOOL, .truth = false),
	WORD("false", YAML_BOOL, .truth = false),
	WORD("False", YAML_BOOL, .truth = false),
	WORD("FALSE", YAML_BOOL, .truth = false),
	WORD(".nan", YAML_FLOAT, .real = NAN),
	WORD(".NaN", YAML_FLOAT, .real = NAN),
	WORD(".NAN", YAML_FLOAT, .real = NAN),
	WORD(".inf", YAML_FLOAT, .real = INFINITY),
	WORD(".Inf", YAML_FLOAT, .real = INFINITY),
	WORD(".INF", YAML_FLOAT, .real = INFINITY),
	WORD("+.inf", YAML_FLOAT, .real = INFINITY),
	WORD("+.Inf", YAML_FLOAT, .real = INFINITY),
	WORD("+.INF", YAML_FLOAT, .real = INFINITY),
	WORD("-.inf", YAML_FLOAT, .real = -INFINITY),
	WORD("-.Inf", YAML_FLOAT, .real = -INFINITY),
	WORD("-.INF", YAML_FLOAT, .real = -INFINITY),
#undef WORD
};

enum { LONGEST_WORD = 5 };

static const struct yaml_scalar string = { YAML_STRING, { false } };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* As Go's strconv.ParseInt and ParseUint with base 0: 0x, 0b, 0o, or octal after a leading zero. */
static bool whole(struct str s, struct yaml_scalar *ret)
{
	bool sign = s.n && (s.p[0] == '-' || s.p[0] == '+'), negative = sign && s.p[0] == '-';
	uint64_t v = 0;
	int base = 10;

	s = str_sub(s, sign, s.n);
	if (!s.n)
		return false;
	if (s.p[0] == '0') {
		char c = s.n > 2 ? (char)(s.p[1] | 0x20) : 0;

		base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
		s = str_sub(s, c == 'x' || c == 'b' || c == 'o' ? 2 : 1, s.n);
	}
	for (size_t i = 0; i < s.n; i++) {
		int d = digit_of(s.p[i]);

		if (d >= base || v > (UINT64_MAX - (uint64_t)d) / (uint64_t)base)
			return false;
		v = v * (uint64_t)base + (uint64_t)d;
	}
	if (v <= (uint64_t)INT64_MAX + negative)
		*ret = (struct yaml_scalar){ YAML_INT, .number = negative ? (int64_t)(0 - v) : (int64_t)v };
	else if (!sign)
		*ret = (struct yaml_scalar){ YAML_UINT, .large = v };
	else
		return false;
	return true;
}

static size_t skip_digits(struct str s, size_t i)
{
	while (i < s.n && is_digit(s.p[i]))
		i++;
	return i;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_real(struct str s)
{
	size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+'), start = i, end = skip_digits(s, i), after;

	if (end < s.n && s.p[end] == '.') {
		after = skip_digits(s, end + 1);
		if (end == start && after == end + 1)
			return false;
		end = after;
	} else if (end == start) {
		return false;
	}
	if (end < s.n && (s.p[end] == 'e' || s.p[end] == 'E')) {
		i = end + 1;
		i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
		end = skip_digits(s, i);
		if (end == i)
			return false;
	}
	return end == s.n;
}

static struct yaml_scalar number_scalar(struct str text)
{
	struct yaml_scalar ret = string;
	struct buf plain = BUF_INIT(text.n);
	double real;

	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '_')
			buf_putc(&plain, text.p[i]);
	if (!whole(buf_str(&plain), &ret) && looks_real(buf_str(&plain))) {
		real = strtod(plain.p, NULL);
		/* Too large for a double: go-yaml leaves it a string. */
		if (isfinite(real))
			ret = (struct yaml_scalar){ YAML_FLOAT, .real = real };
	}
	buf_release(&plain);
	return ret;
}

/* After a leading point underscores may only separate digits; elsewhere they may stand anywhere. */
static bool tidy_underscores(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '_' && (i == 0 || i + 1 == s.n || !is_digit(s.p[i - 1]) || !is_digit(s.p[i + 1])))
			return false;
	return true;
}

struct yaml_scalar yaml_plain(struct str text)
{
	if (text.n <= LONGEST_WORD)
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (str_eq(words[i].text, text))
				return words[i].scalar;
	if (is_digit(text.p[0]) || text.p[0] == '-' || text.p[0] == '+')
		return number_scalar(text);
	return text.p[0] == '.' && tidy_underscores(text) ? number_scalar(text) : string;
}

const char *yaml_tagged(struct str tag, struct str text, struct yaml_scalar *ret, struct buf *data)
{
	static const struct str prefix = STR_INIT("tag:yaml.org,2002:");
	struct str name = str_sub(tag, prefix.n, tag.n);

	*ret = string;
	if (str_eqc(tag, "!"))
		return NULL;
	if (!str_has_prefix(tag, prefix))
		return "unknown tag";
	if (str_eqc(name, "str"))
		return NULL;
	if (str_eqc(name, "binary")) {
		if (!buf_base64(data, text))
			return "!!binary needs base64";
		return str_is_utf8(buf_str(data)) ? NULL : "!!binary that is not text cannot be written as JSON";
	}
	*ret = yaml_plain(text);
	if (str_eqc(name, "null"))
		return ret->type == YAML_NULL ? NULL : "!!null needs null";
	if (str_eqc(name, "bool"))
		return ret->type == YAML_BOOL ? NULL : "!!bool needs true or false";
	if (str_eqc(name, "int"))
		return ret->type == YAML_INT || ret->type == YAML_UINT ? NULL : "!!int needs a whole number";
	if (str_eqc(name, "float")) {
		if (ret->type == YAML_INT)
			*ret = (struct yaml_scalar){ YAML_FLOAT, .real = (double)ret->number };
		return ret->type == YAML_FLOAT ? NULL : "!!float needs a number";
	}
	if (str_eqc(name, "map") || str_eqc(name, "seq"))
		return "this tag is not for a single value";
	return "unknown tag";
}

/* The shortest text that names this float, as Go's FormatFloat(v, 'g', -1, 32) writes it: that is
   how sigs.k8s.io/yaml makes a key of it. */
static void short_float(double v, struct buf *out)
{
	float f = (float)v;
	char text[64];
	int digits = 1, exponent;

	if (isnan(f) || isinf(f)) {
		buf_put(out, isnan(f) ? STR(".nan") : f > 0 ? STR(".inf") : STR("-.inf"));
		return;
	}
	do {
		snprintf(text, sizeof(text), "%.*e", digits - 1, (double)f);
	} while (strtof(text, NULL) != f && digits++ < 9);
	exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	if (exponent < -4 || exponent >= 6)
		buf_put(out, str_c(text));
	else
		buf_printf(out, "%.*f", MAX(digits - 1 - exponent, 0), (double)f);
}

const char *yaml_key(const struct yaml_scalar *scalar, struct str text, struct buf *out)
{
	switch (scalar->type) {
	case YAML_NULL:
		return "a key cannot be null";
	case YAML_BOOL:
		buf_put(out, scalar->truth ? STR("true") : STR("false"));
		return NULL;
	case YAML_INT:
		buf_printf(out, "%lld", (long long)scalar->number);
		return NULL;
	case YAML_UINT:
		return "a number this large cannot be a key: put it in quotes";
	case YAML_FLOAT:
		short_float(scalar->real, out);
		return NULL;
	case YAML_STRING:
		buf_put(out, text);
		return NULL;
	}
	BUG("scalar of type %d", (int)scalar->type);
}
