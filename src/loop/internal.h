/* What the files of this folder share. */
#ifndef LOOP_INTERNAL_H
#define LOOP_INTERNAL_H

#include "loop/loop.h"

#include <uv.h>

struct loop {
	uv_loop_t uv;
	size_t open; /* what was opened and not freed */
	bool running;
};

#endif
