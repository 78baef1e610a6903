/* The files that kubectl reads: several are merged, one context is taken out of them. */
#ifndef KUBE_KUBECONFIG_H
#define KUBE_KUBECONFIG_H

#include "kube/config.h"

enum file_read kube_args_read(const struct kube_config_args *args, struct str *ret, const char *path, struct arena *a,
                              struct err *e);

/* Files that are missing are left out; *FOUND says whether there was one at all (if not, *RET stays empty). */
bool kubeconfig_load(struct kube_config *ret, const struct kube_config_args *args, const struct str *paths, size_t n,
                     bool *found, struct arena *a, struct err *e);

/* The server's address in the form that http wants: with its scheme, no slash at the end. */
bool kube_server_url(struct str *ret, struct str url, bool tls, struct arena *a, struct err *e);
/* Can it stand in a header? */
bool kube_check_token(struct str token, struct err *e);

#endif
