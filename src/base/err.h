/* One shape for the world's errors. Functions that can fail take a struct err * last and return
   false (or -1); the one who decides prints it, once. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/util.h"

struct err {
	int code;  /* what kind of error, where a caller tells them apart; 0: no error */
	char *msg; /* owned */
};

enum err_code {
	ERR_NONE,
	ERR_INVALID, /* the input is wrong */
	ERR_LIMIT,   /* the input is larger than we take */
	ERR_IO,      /* the machine said no */
	ERR_LUA,     /* a kind's code failed */
};

#define ERR_INIT                                                                                                       \
	{                                                                                                              \
		ERR_NONE, NULL                                                                                         \
	}

/* Sets the error (an earlier one is dropped) and returns false, so that one can write
   `return err_set(e, ERR_IO, "…")`. E may be NULL: nobody wants to know. */
bool err_set(struct err *e, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Puts "context: " in front of the message; returns false. */
bool err_wrap(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The message, never NULL. */
const char *err_msg(const struct err *e);
void err_release(struct err *e);

#endif
