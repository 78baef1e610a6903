#include "cli/home.h"

static const struct {
	const char *variable, *rest;
} places[] = {
	{ "DLJOB_HOME", "" },
	{ "XDG_STATE_HOME", "/dljob" },
	{ "HOME", "/.local/state/dljob" },
};

const char *local_home(struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct str dir = str_c(getenv(places[i].variable));

		while (dir.n > 1 && dir.p[dir.n - 1] == '/')
			dir.n--;
		if (dir.n)
			return arena_printf(a, "%.*s%s", STR_F(dir), places[i].rest).p;
	}
	return NULL;
}
