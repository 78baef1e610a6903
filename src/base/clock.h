/* Time is milliseconds since 1970 in an int64_t; 0 means "not set". Nothing below src/client and src/program asks the
   machine for the time: it is given a struct clock, so that tests and the simulator own it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/str.h"

typedef int64_t msec;

#define SECONDS(n) ((msec)(n)*1000)
#define MINUTES(n) ((msec)(n)*60000)
/* "No time at all": later than everything. */
#define NEVER INT64_MAX

struct clock {
	msec (*now)(void *cookie);
	void *cookie;
};

static inline msec clock_now(const struct clock *c)
{
	return c->now(c->cookie);
}

/* The machine's wall clock. */
extern const struct clock clock_wall;

/* The processor's time that the calling thread has taken; it stands still while a machine sleeps or others run. */
extern const struct clock clock_thread;

/* "2026-11-15T12:00:00Z", with optional fraction (cut to milliseconds) and offset as RFC 3339 allows.
   False if it is none, also for days that no calendar has. */
bool time_parse(struct str s, msec *ret);

enum { TIME_TEXT = 32 };
/* Kubernetes' form, whole seconds. Times outside of the years 0 to 9999, which it cannot say, are
   written as the nearest one. Returns BUF. */
const char *time_format(msec t, char buf[static TIME_TEXT]);

enum { AGE_TEXT = 32 };
/* How long ago something was, as kubectl says it: 90s, 5m3s, 4h, 2d3h. Returns BUF, or a literal. */
const char *age_format(msec since, char buf[static AGE_TEXT]);

#endif
