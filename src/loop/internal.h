/* What the files of this folder share. */
#ifndef LOOP_INTERNAL_H
#define LOOP_INTERNAL_H

#include "loop/loop.h"

#include <uv.h>

struct loop {
	uv_loop_t uv;
	size_t open; /* what was opened and not freed */
	bool running;
	bool firing;              /* a timer's callback runs */
	struct loop_timer *later; /* timers that were set to 0 by one: for the next round */
	uv_idle_t busy;           /* while there are any: the round does not wait for events */
	uv_check_t polled;        /* … and when it has looked for them, these timers are set */
};

#endif
