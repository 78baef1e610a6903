/* The caller's terminal while a program elsewhere has it. */
#ifndef CLIENT_EXEC_TERMINAL_H
#define CLIENT_EXEC_TERMINAL_H

#include "base/buf.h"

#include <termios.h>

struct exec_terminal {
	bool raw;
	struct termios before;
};
/* Whatever is typed goes to the program: Ctrl-C, too. */
void exec_terminal_begin(struct exec_terminal *t);
void exec_terminal_end(struct exec_terminal *t);
/* Its size as the channel has it: {"Width":80,"Height":24}. False: it says none. */
bool exec_terminal_size(struct buf *ret);

#endif
