#include "run/given.h"

#include <unistd.h>

static bool read_trees(struct cli *cli, const struct opt_list *list, const char *option, const struct runner_tree **ret)
{
	struct runner_tree *t = arena_array(&cli->arena, struct runner_tree, list->n);

	for (size_t i = 0; i < list->n; i++) {
		const char *eq = strrchr(list->v[i], '=');
		char *full;

		if (!eq || eq == list->v[i] || !eq[1]) {
			cli->status = cli_usage(cli, "%s wants NAME=DIR, not '%s'", option, list->v[i]);
			return false;
		}
		full = realpath(eq + 1, NULL);
		if (!full || access(full, X_OK)) {
			cli->status =
				cli_fail(cli, CLI_INVALID, "%s %s: there is no such directory", option, list->v[i]);
			free(full);
			return false;
		}
		t[i].name = (struct str){ list->v[i], (size_t)(eq - list->v[i]) };
		t[i].dir = arena_str(&cli->arena, str_c(full)).p;
		free(full);
	}
	*ret = t;
	return true;
}

static const char *const *passed_env(struct cli *cli)
{
	static const char *const names[] = { "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR" };
	const char **env = arena_array(&cli->arena, const char *, ARRAY_LEN(names) + 1);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value)
			env[n++] = arena_printf(&cli->arena, "%s=%s", names[i], value).p;
	}
	return env;
}

bool given_read(struct given *ret, struct cli *cli, const struct opt_list *volumes, const struct opt_list *rootfs)
{
	char *cwd = getcwd(NULL, 0);

	*ret = (struct given){ .n_volumes = volumes->n,
		               .n_rootfs = rootfs->n,
		               .env = passed_env(cli),
		               .cwd = arena_str(&cli->arena, str_c(cwd ? cwd : "/")) };
	free(cwd);
	return read_trees(cli, volumes, "--volume", &ret->volumes) && read_trees(cli, rootfs, "--rootfs", &ret->rootfs);
}

void given_use(const struct given *g, struct embedded_config *c)
{
	c->volumes = g->volumes;
	c->n_volumes = g->n_volumes;
	c->rootfs = g->rootfs;
	c->n_rootfs = g->n_rootfs;
	c->env = g->env;
	c->cwd = g->cwd;
}
