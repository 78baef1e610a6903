/* What the files of this folder share. */
#ifndef LOOP_INTERNAL_H
#define LOOP_INTERNAL_H

#include "loop/loop.h"

#include <uv.h>

struct loop {
	uv_loop_t uv;
	size_t open; /* what was opened and not freed */
	bool running;
	bool firing;              /* timers fire, and libuv's time stands still */
	uv_prepare_t fired;       /* … until all that are due have */
	struct loop_timer *later; /* timers that were set to 0 by one: for the next round */
	uv_idle_t busy;           /* while there are any: the round does not wait for events */
	uv_check_t polled;        /* … and when it has looked for them, these timers are set */
};

/* DELAY from now as uv_timer_start() wants it, which counts in whole milliseconds from the time when the round began.
   Whoever has a uv_timer_t of his own sets `firing` in its callback. */
uint64_t loop_from_now(struct loop *l, msec delay);

#endif
