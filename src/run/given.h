/* What whoever calls gives to the pods of this machine: directories by options, his environment, where he is. */
#ifndef RUN_GIVEN_H
#define RUN_GIVEN_H

#include "client/cli.h"
#include "embedded/embedded.h"

struct given {
	const struct runner_tree *volumes, *rootfs;
	size_t n_volumes, n_rootfs;
	const char *const *env;
	struct str cwd;
};

/* Of --volume and --rootfs; in the cli's arena. False: it was said what is wrong, return cli->status. */
bool given_read(struct given *ret, struct cli *cli, const struct opt_list *volumes, const struct opt_list *rootfs);
void given_use(const struct given *g, struct embedded_config *c);

#endif
