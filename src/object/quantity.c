#include "object/quantity.h"

#include "base/json.h"

#include <math.h>

static const struct unit {
	const char *name;
	long double factor;
} units[] = {
	{ "", 1 },
	{ "n", 1e-9L },
	{ "u", 1e-6L },
	{ "m", 1e-3L },
	{ "k", 1e3L },
	{ "M", 1e6L },
	{ "G", 1e9L },
	{ "T", 1e12L },
	{ "P", 1e15L },
	{ "E", 1e18L },
	{ "Ki", 1024.0L },
	{ "Mi", 1048576.0L },
	{ "Gi", 1073741824.0L },
	{ "Ti", 1099511627776.0L },
	{ "Pi", 1125899906842624.0L },
	{ "Ei", 1152921504606846976.0L },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The number at the front of *S, which is cut off. */
static bool cut_number(struct str *s, long double *ret)
{
	long double value = 0, place = 1;
	size_t digits = 0;
	bool fraction = false;

	for (; s->n; *s = str_sub(*s, 1, s->n - 1)) {
		if (*s->p == '.' && !fraction) {
			fraction = true;
		} else if (is_digit(*s->p)) {
			digits++;
			value = value * 10 + (*s->p - '0');
			if (fraction)
				place *= 10;
		} else {
			break;
		}
	}
	*ret = value / place;
	return digits > 0 && digits < 40;
}

static bool factor(struct str s, long double *ret)
{
	int64_t exponent;

	if (s.n > 1 && (*s.p == 'e' || *s.p == 'E') && !str_eqc(s, "Ei")) {
		s = str_sub(s, 1, s.n - 1);
		if (*s.p == '+')
			s = str_sub(s, 1, s.n - 1);
		if (!str_int(s, &exponent) || exponent < -30 || exponent > 30)
			return false;
		*ret = powl(10, (long double)exponent);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (str_eqc(s, units[i].name)) {
			*ret = units[i].factor;
			return true;
		}
	return false;
}

bool quantity_read(yyjson_val *v, int64_t *ret_milli)
{
	struct str s = str_trim(json_str(v));
	long double value, times;

	if (yyjson_is_num(v)) {
		value = yyjson_get_num(v);
		times = 1;
	} else {
		if (s.n && *s.p == '+')
			s = str_sub(s, 1, s.n - 1);
		if (!cut_number(&s, &value) || !factor(s, &times))
			return false;
	}
	value = value * times * 1000;
	if (!(value >= 0) || value > 9e18L)
		return false;
	*ret_milli = (int64_t)ceill(value - 1e-6L);
	return true;
}

/* Kubernetes' own spelling: bytes by the largest binary unit that fits, thousandths with m. */
struct str quantity_write(struct quantity q, bool binary, char ret[static QUANTITY_TEXT])
{
	static const char *const names[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	int64_t whole = q.whole;
	size_t i = 0;

	if (q.milli && whole <= INT64_MAX / 1000 - 1) {
		snprintf(ret, QUANTITY_TEXT, "%lldm", (long long)whole * 1000 + q.milli);
		return str_c(ret);
	}
	/* Too much for that: what is asked for is never rounded down. */
	whole += q.milli && whole < INT64_MAX;
	while (binary && whole && whole % 1024 == 0 && i + 1 < ARRAY_LEN(names)) {
		whole /= 1024;
		i++;
	}
	snprintf(ret, QUANTITY_TEXT, "%lld%s", (long long)whole, names[i]);
	return str_c(ret);
}

struct quantity quantity_of(int64_t milli)
{
	return (struct quantity){ milli / 1000, (int32_t)(milli % 1000) };
}

struct quantity quantity_sum(struct quantity a, struct quantity b)
{
	struct quantity q = { 0, a.milli + b.milli };
	int64_t carry = q.milli >= 1000;

	q.milli -= carry ? 1000 : 0;
	if (__builtin_add_overflow(a.whole, b.whole, &q.whole) || __builtin_add_overflow(q.whole, carry, &q.whole))
		return (struct quantity){ INT64_MAX, 0 };
	return q;
}

struct quantity quantity_times(struct quantity q, int32_t n)
{
	int64_t milli = (int64_t)q.milli * n;
	struct quantity ret = { 0, (int32_t)(milli % 1000) };

	if (__builtin_mul_overflow(q.whole, (int64_t)n, &ret.whole) ||
	    __builtin_add_overflow(ret.whole, milli / 1000, &ret.whole))
		return (struct quantity){ INT64_MAX, 0 };
	return ret;
}

int quantity_cmp(struct quantity a, struct quantity b)
{
	if (a.whole != b.whole)
		return a.whole < b.whole ? -1 : 1;
	return (a.milli > b.milli) - (a.milli < b.milli);
}
