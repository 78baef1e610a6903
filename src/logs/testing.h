/* For the tests of archives: a folder that is made for each case, and removed after it. */
#ifndef LOGS_TESTING_H
#define LOGS_TESTING_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"

static char root[] = "/tmp/archive-XXXXXX";

static inline int setup(void **state)
{
	(void)state;
	memcpy(strrchr(root, '-') + 1, "XXXXXX", 6);
	return mkdtemp(root) ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	return file_remove_tree(root, false, NULL) ? 0 : -1;
}

#endif
