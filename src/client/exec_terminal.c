#include "client/exec_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

void exec_terminal_begin(struct exec_terminal *t)
{
	struct termios raw;

	t->raw = tcgetattr(STDIN_FILENO, &t->before) == 0;
	if (!t->raw)
		return;
	raw = t->before;
	cfmakeraw(&raw);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

void exec_terminal_end(struct exec_terminal *t)
{
	if (t->raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &t->before);
	t->raw = false;
}

bool exec_terminal_size(struct buf *ret)
{
	struct winsize size;

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col || !size.ws_row)
		return false;
	buf_printf(ret, "{\"Width\":%d,\"Height\":%d}", size.ws_col, size.ws_row);
	return true;
}
