#include "client/home.h"

#include <unistd.h>

static const struct {
	const char *variable, *rest;
} places[] = {
	{ "DLJOB_HOME", "" },
	{ "XDG_STATE_HOME", "/dljob" },
	{ "HOME", "/.local/state/dljob" },
};

/* Processes and files name the folder to each other, whatever directory they are in. */
static struct str absolute(struct arena *a, struct str dir)
{
	char *cwd = getcwd(NULL, 0);
	struct str path = arena_printf(a, "%s/%.*s", cwd ? cwd : "", STR_F(dir));

	free(cwd);
	return path;
}

/* Without what makes a link look like the folder that it leads to. */
static struct str bare_folder(struct str dir)
{
	while (dir.n > 1 && (str_has_suffix(dir, STR("/")) || str_has_suffix(dir, STR("/."))))
		dir.n--;
	return dir;
}

const char *local_home(struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct str dir = str_c(getenv(places[i].variable));

		dir = bare_folder(dir);
		if (dir.n && *dir.p != '/')
			dir = absolute(a, dir);
		if (dir.n)
			return arena_printf(a, "%.*s%s", STR_F(dir), places[i].rest).p;
	}
	return NULL;
}
