/* Kubernetes' quantities: a decimal number with a suffix. */
#include "local/pod/pod.h"

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
static bool number(struct str *s, long double *ret)
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

bool pod_quantity(yyjson_val *v, int64_t *ret_milli)
{
	struct str s = str_trim(json_str(v));
	long double value, times;

	if (yyjson_is_num(v)) {
		value = yyjson_get_num(v);
		times = 1;
	} else {
		if (s.n && *s.p == '+')
			s = str_sub(s, 1, s.n - 1);
		if (!number(&s, &value) || !factor(s, &times))
			return false;
	}
	value = value * times * 1000;
	if (!(value >= 0) || value > 9e18L)
		return false;
	*ret_milli = (int64_t)ceill(value - 1e-6L);
	return true;
}
