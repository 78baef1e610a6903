/* dljob run: one job on this machine, in the foreground, from its start to its end. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "client/cli.h"
#include "client/edit.h"
#include "client/write.h"

struct run_options {
	struct job_edits edits;
	struct opt_list kills, volumes, rootfs;
	bool keep, quiet, host_network, without_gpus;
	const char *timeout, *color;
	struct write_options command; /* that runs; instead of files */
};

/* The one job of FILES, or the one that runs the command, which are read and checked first. Returns the exit status
 * that says how it ended. */
enum exit_code run_job(struct cli *cli, const struct run_options *o, int n, char **files);

#endif
