#include "term/duration.h"

#include <ctype.h>
#include <math.h>

bool decimal_cut(struct str *s, double *ret)
{
	double value = 0, scale = 1;
	size_t i = 0, digits = 0;
	bool fraction = false;

	for (; i < s->n && (isdigit((unsigned char)s->p[i]) || (s->p[i] == '.' && !fraction)); i++) {
		if (s->p[i] == '.') {
			fraction = true;
			continue;
		}
		digits++;
		value = value * 10 + (s->p[i] - '0');
		if (fraction)
			scale *= 10;
	}
	*s = str_sub(*s, i, s->n);
	*ret = value / scale;
	return digits > 0 && digits < 16;
}

bool duration_parse(struct str s, msec *ret)
{
	/* The longer ones first. */
	static const struct {
		struct str unit;
		double msecs;
	} units[] = {
		{ STR_INIT("ns"), 1e-6 }, { STR_INIT("us"), 1e-3 }, { STR_INIT("µs"), 1e-3 }, { STR_INIT("ms"), 1 },
		{ STR_INIT("s"), 1e3 },   { STR_INIT("m"), 6e4 },   { STR_INIT("h"), 3.6e6 },
	};
	double sum = 0, number;

	if (str_eqc(s, "0")) {
		*ret = 0;
		return true;
	}
	if (str_empty(s))
		return false;
	while (!str_empty(s)) {
		size_t u = 0;

		if (!decimal_cut(&s, &number))
			return false;
		while (u < ARRAY_LEN(units) && !str_has_prefix(s, units[u].unit))
			u++;
		if (u == ARRAY_LEN(units))
			return false;
		s = str_sub(s, units[u].unit.n, s.n);
		sum += number * units[u].msecs;
	}
	/* A hundred years: more than anybody means, and far from what overflows. */
	if (sum > 3.2e12)
		return false;
	*ret = (msec)llround(sum);
	return true;
}
