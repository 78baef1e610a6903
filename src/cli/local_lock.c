/* Who runs the cluster of a folder: whoever has locked FOLDER/lock, and its number stands in there. The lock ends with
   its process, however that ends. */
#include "cli/local.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

enum { NUMBER_TEXT = 32 };

bool local_look(const char *folder, struct local_holder *ret, struct err *e)
{
	char path[4096], text[NUMBER_TEXT];
	int64_t pid = 0;
	ssize_t n;

	*ret = (struct local_holder){ .lock = -1 };
	snprintf(path, sizeof(path), "%s/lock", folder);
	ret->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (ret->lock < 0)
		return errno == ENOENT || err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	if (flock(ret->lock, LOCK_EX | LOCK_NB) == 0)
		return true;
	n = pread(ret->lock, text, sizeof(text), 0);
	if (n > 0)
		str_int(str_trim((struct str){ text, (size_t)n }), &pid);
	close(ret->lock);
	ret->lock = -1;
	/* Between its lock and its number. */
	ret->pid = pid > 0 ? (pid_t)pid : -1;
	return true;
}

void local_holder_release(struct local_holder *h)
{
	if (h->lock >= 0)
		close(h->lock);
	h->lock = -1;
}

bool local_hold(const struct local_holder *h, struct err *e)
{
	char text[NUMBER_TEXT];
	int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	return (ftruncate(h->lock, 0) == 0 && pwrite(h->lock, text, (size_t)n, 0) == n) ||
	       err_set(e, ERR_IO, "lock: %s", strerror(errno));
}
