/* Log lines on standard error: text for people or JSON for machines, one line for each call. Library
   code returns errors; the one who decides logs. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/clock.h"
#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

/* Before it is called: text, from LOG_INFO on, by the machine's clock (as with CLOCK NULL). */
void log_setup(enum log_format format, enum log_level least, const struct clock *clock);
/* Where lines go, for tests; NULL: standard error. */
void log_to(FILE *f);

struct log_field {
	const char *key;
	struct str text;
	int64_t number;
	bool is_number;
};

#define F_STR(k, s) ((struct log_field){ (k), (s), 0, false })
#define F_INT(k, v) ((struct log_field){ (k), STR_NONE, (v), true })

/* Writes one line with one write(2). Texts past 8 KiB are cut, fields past 17 left out. errno stays. */
void log_write(enum log_level level, const struct log_field *fields, size_t n, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* log_info(FIELDS(F_STR("job", name), F_INT("index", i)), "pod %s created", pod); */
#define FIELDS(...) ((const struct log_field[]){ __VA_ARGS__ }), ARRAY_LEN(((const struct log_field[]){ __VA_ARGS__ }))
#define NO_FIELDS NULL, 0
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
