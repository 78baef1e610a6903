#include "local/net/outside.h"

struct outside outside_find(void)
{
	struct outside o = { .pasta = false };

	if (net_program_find(o.path, "slirp4netns")) {
		o.dns = "10.0.2.3";
		return o;
	}
	o.pasta = net_program_find(o.path, "pasta");
	if (!o.pasta)
		o.path[0] = 0;
	return o;
}

void outside_argv(const char *argv[OUTSIDE_ARGS], const struct outside *o, const char *pid)
{
	static const char *const slirp[] = { "--configure", "--mtu=65520", "--disable-host-loopback", NULL };
	static const char *const pasta[] = {
		"--foreground", "--quiet", "--config-net", "--no-map-gw", "-t",   "none", "-u",
		"none",         "-T",      "none",         "-U",          "none", NULL
	};
	const char *const *from = o->pasta ? pasta : slirp;
	size_t n = 0;

	argv[n++] = o->path;
	while (*from)
		argv[n++] = *from++;
	argv[n++] = pid;
	if (!o->pasta)
		argv[n++] = "tap0";
	argv[n] = NULL;
	ASSERT(n < OUTSIDE_ARGS);
}
