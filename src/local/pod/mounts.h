/*
 * What a container sees in place of the machine's own files, in a mount namespace of its own. Nothing is written to
 * the machine's directories: where a mount point does not exist, its nearest existing folder is covered by a mirror,
 * a tmpfs in which every entry of that folder is bind-mounted under its own name, and the point is made in there.
 * (An overlay would want an upper layer outside of the tree that it covers, does not show what is mounted below it,
 * and is not allowed in every user namespace; bind mounts and tmpfs are.) What a container writes directly into a
 * mirrored folder goes with it.
 */
#ifndef LOCAL_POD_MOUNTS_H
#define LOCAL_POD_MOUNTS_H

#include "local/pod/pod.h"

enum { MOUNTS_MAX = POD_MOUNTS_MAX + 16 }; /* with our own */

/* One source, opened before anything is covered. */
struct mount_plan_item {
	int tree; /* a detached mount */
	bool dir, ours;
	struct str target;
};
struct mount_plan {
	struct mount_plan_item v[MOUNTS_MAX];
	size_t n;
	struct str rootfs; /* a C string too; empty: the machine's own root */
};

/* A private mount namespace for the calling process. */
bool mounts_unshare(struct err *e);
/* For the pod's parent: /proc of its PID namespace; /dev with what programs need, an empty file for termination
   messages and, if SHM, a /dev/shm of its own. */
bool mounts_proc(struct err *e);
bool mounts_dev(bool shm, struct err *e);
/* Collects FROM (a folder or a file) to be mounted at TARGET. OURS: points that are missing below it may be made
   in it. */
bool mounts_add(struct mount_plan *p, const char *from, struct str target, bool read_only, bool ours, struct err *e);
/* The same for what is SUB below the folder FROM, wherever links in there lead. MAKE: made if it is missing. */
bool mounts_add_below(struct mount_plan *p, const char *from, struct str sub, bool make, struct str target,
                      bool read_only, bool ours, struct err *e);
/* Covers and mounts, in the calling process's namespace. */
bool mounts_apply(struct mount_plan *p, struct err *e);

#endif
