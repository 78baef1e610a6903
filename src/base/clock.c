#include "base/clock.h"

#include <time.h>

static msec wall_now(void *cookie)
{
	struct timespec ts;

	(void)cookie;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (msec)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

const struct clock clock_wall = { wall_now, NULL };

/* Days since 1970-01-01 of a date in the Gregorian calendar. */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
	int64_t era, yoe, doy, doe;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	yoe = y - era * 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
	return era * 146097 + doe - 719468;
}

/* Reads exactly N digits at *S and moves on. */
static bool digits(struct str *s, size_t n, int64_t *ret)
{
	if (s->n < n || s->p[0] == '-' || !str_int(str_sub(*s, 0, n), ret))
		return false;
	*s = str_sub(*s, n, s->n);
	return true;
}

static bool one_of(struct str *s, const char *set, char *ret)
{
	if (!s->n || !strchr(set, s->p[0]) || !s->p[0])
		return false;
	*ret = s->p[0];
	*s = str_sub(*s, 1, s->n);
	return true;
}

bool time_parse(struct str s, msec *ret)
{
	int64_t y, mo, d, h, mi, sec, oh = 0, om = 0;
	msec frac = 0;
	char c, sign;

	if (!digits(&s, 4, &y) || !one_of(&s, "-", &c) || !digits(&s, 2, &mo) || !one_of(&s, "-", &c) ||
	    !digits(&s, 2, &d) || !one_of(&s, "Tt", &c) || !digits(&s, 2, &h) || !one_of(&s, ":", &c) ||
	    !digits(&s, 2, &mi) || !one_of(&s, ":", &c) || !digits(&s, 2, &sec))
		return false;
	if (mo < 1 || mo > 12 || d < 1 || d > 31 || h > 23 || mi > 59 || sec > 60)
		return false;
	if (one_of(&s, ".", &c)) {
		msec unit = 100;
		int64_t digit;

		if (!s.n)
			return false;
		while (digits(&s, 1, &digit)) {
			frac += digit * unit;
			unit /= 10;
		}
	}
	if (!one_of(&s, "Zz+-", &sign))
		return false;
	if (sign == '+' || sign == '-') {
		if (!digits(&s, 2, &oh) || !one_of(&s, ":", &c) || !digits(&s, 2, &om))
			return false;
		if (sign == '-') {
			oh = -oh;
			om = -om;
		}
	}
	if (s.n)
		return false;
	*ret = (((days_of(y, mo, d) * 24 + h - oh) * 60 + mi - om) * 60 + sec) * 1000 + frac;
	return true;
}

const char *time_format(msec t, char buf[static TIME_TEXT])
{
	time_t sec = (time_t)(t / 1000 - (t % 1000 < 0));
	struct tm tm;

	if (!gmtime_r(&sec, &tm) || !strftime(buf, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm))
		memcpy(buf, "0001-01-01T00:00:00Z", sizeof("0001-01-01T00:00:00Z"));
	return buf;
}
