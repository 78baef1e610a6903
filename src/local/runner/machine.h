/* What this machine has to give: cores, memory, GPUs. */
#ifndef LOCAL_RUNNER_MACHINE_H
#define LOCAL_RUNNER_MACHINE_H

#include "local/runner/fit.h"

enum { MACHINE_GPUS_MAX = 64 };

struct machine {
	struct amount amount;
	int gpus[MACHINE_GPUS_MAX]; /* their numbers */
	char gpu_note[256];         /* where they were found, or why there are none; one line */
};

/* Cores and memory as this process may use them (affinity, control groups). GPUs through nvidia-smi, else by
   /dev/nvidiaN; CUDA_VISIBLE_DEVICES of our own environment makes them fewer. ROOT is "" but in tests: a prefix of
   /proc, /sys and /dev; PATH is where nvidia-smi is looked up. Never fails: what cannot be found out is not there. */
void machine_find(struct machine *ret, const char *root, const char *path);

#endif
