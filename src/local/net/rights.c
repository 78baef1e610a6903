#include "local/net/rights.h"

#include "local/net/net.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORDS = _LINUX_CAPABILITY_U32S_3, CAPABILITIES = 64 };

bool rights_keep(struct err *e)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[WORDS] = { { 0 } };

	if (syscall(SYS_capget, &h, d) < 0)
		return err_set(e, ERR_IO, "capabilities: %s", strerror(errno));
	for (int i = 0; i < WORDS; i++)
		d[i].inheritable = d[i].permitted;
	if (syscall(SYS_capset, &h, d) < 0)
		return err_set(e, ERR_IO, "capabilities: %s", strerror(errno));
	for (unsigned long c = 0; c < CAPABILITIES; c++) {
		bool has = (d[c / 32].permitted & 1U << c % 32) != 0;

		if (has && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0) < 0)
			return err_set(e, ERR_IO, "capabilities: %s", strerror(errno));
	}
	return true;
}

void net_rights_drop(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[WORDS] = { { 0 } };

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &h, d) < 0)
		return;
	for (int i = 0; i < WORDS; i++)
		d[i].inheritable = 0;
	(void)syscall(SYS_capset, &h, d);
}
