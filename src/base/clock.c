#include "base/clock.h"

#include <time.h>

static msec read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (msec)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static msec wall_now(void *cookie)
{
	(void)cookie;
	return read_clock(CLOCK_REALTIME);
}

static msec thread_now(void *cookie)
{
	(void)cookie;
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

const struct clock clock_wall = { wall_now, NULL };
const struct clock clock_thread = { thread_now, NULL };

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

static int64_t days_in_month(int64_t y, int64_t m)
{
	return m == 12 ? 31 : days_of(y, m + 1, 1) - days_of(y, m, 1);
}

/* "Z", "+02:00", "-00:30": minutes to take away. */
static bool offset(struct str *s, int64_t *ret)
{
	int64_t h, m;
	char sign, c;

	*ret = 0;
	if (!one_of(s, "Zz+-", &sign))
		return false;
	if (sign == 'Z' || sign == 'z')
		return true;
	if (!digits(s, 2, &h) || !one_of(s, ":", &c) || !digits(s, 2, &m) || h > 23 || m > 59)
		return false;
	*ret = (h * 60 + m) * (sign == '-' ? -1 : 1);
	return true;
}

bool time_parse(struct str s, msec *ret)
{
	int64_t y, mo, d, h, mi, sec, away, digit;
	msec frac = 0;
	char c;

	if (!digits(&s, 4, &y) || !one_of(&s, "-", &c) || !digits(&s, 2, &mo) || !one_of(&s, "-", &c) ||
	    !digits(&s, 2, &d) || !one_of(&s, "Tt", &c) || !digits(&s, 2, &h) || !one_of(&s, ":", &c) ||
	    !digits(&s, 2, &mi) || !one_of(&s, ":", &c) || !digits(&s, 2, &sec))
		return false;
	/* A leap second, 60, is the first of the next minute. */
	if (mo < 1 || mo > 12 || d < 1 || d > days_in_month(y, mo) || h > 23 || mi > 59 || sec > 60)
		return false;
	if (one_of(&s, ".", &c)) {
		if (!digits(&s, 1, &digit))
			return false;
		frac = digit * 100;
		for (msec unit = 10; digits(&s, 1, &digit); unit /= 10)
			frac += digit * unit;
	}
	if (!offset(&s, &away) || s.n)
		return false;
	*ret = (((days_of(y, mo, d) * 24 + h) * 60 + mi - away) * 60 + sec) * 1000 + frac;
	return true;
}

const char *time_format(msec t, char buf[static TIME_TEXT])
{
	const msec first = days_of(0, 1, 1) * 86400000, last = days_of(10000, 1, 1) * 86400000 - 1;
	time_t sec;
	struct tm tm;

	t = MIN(MAX(t, first), last);
	sec = (time_t)(t / 1000 - (t % 1000 < 0));
	gmtime_r(&sec, &tm);
	/* strftime writes the year 5 as "5". */
	snprintf(buf, TIME_TEXT, "%04u-%02u-%02uT%02u:%02u:%02uZ", (unsigned)(tm.tm_year + 1900) % 10000,
	         (unsigned)(tm.tm_mon + 1) % 100, (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100,
	         (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
	return buf;
}

static const char *two(char buf[static AGE_TEXT], long long a, char unit_a, long long b, char unit_b)
{
	if (b)
		snprintf(buf, AGE_TEXT, "%lld%c%lld%c", a, unit_a, b, unit_b);
	else
		snprintf(buf, AGE_TEXT, "%lld%c", a, unit_a);
	return buf;
}

const char *age_format(msec since, char buf[static AGE_TEXT])
{
	long long s = since / 1000, m = s / 60, h = m / 60, d = h / 24;

	if (since <= -2000)
		return "<invalid>";
	if (s < 120)
		return two(buf, MAX(s, 0LL), 's', 0, 0);
	if (m < 10)
		return two(buf, m, 'm', s % 60, 's');
	if (m < 180)
		return two(buf, m, 'm', 0, 0);
	if (h < 8)
		return two(buf, h, 'h', m % 60, 'm');
	if (h < 48)
		return two(buf, h, 'h', 0, 0);
	if (d < 8)
		return two(buf, d, 'd', h % 24, 'h');
	if (d < 730)
		return two(buf, d, 'd', 0, 0);
	if (d < 8LL * 365)
		return two(buf, d / 365, 'y', d % 365, 'd');
	return two(buf, d / 365, 'y', 0, 0);
}
