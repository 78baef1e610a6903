/* How to reach an API server: kubeconfig files, the pod's own account, or flags. */
#ifndef KUBE_CONFIG_H
#define KUBE_CONFIG_H

#include "base/file.h"
#include "http/client.h"

/* An exec credential plugin (client.authentication.k8s.io). */
struct kube_exec {
	struct str command; /* relative paths are relative to the kubeconfig; a bare name is looked up in PATH */
	struct str api_version;
	const struct str *args;
	size_t n_args;
	const struct str *env; /* NAME=value */
	size_t n_env;
	struct str install_hint;
	bool provide_cluster_info;
};

struct kube_config {
	struct http_server server; /* certificates read, not paths */
	struct str ns;             /* of the context; empty: none said */
	struct str context;        /* for messages; "in-cluster" */
	struct str token;          /* as it stands; what TOKEN_FILE holds comes before it */
	struct str token_file;     /* read anew every minute, and at once on 401 */
	/* Where the server's certificates come from, if these are files: read anew every minute (certs.h). */
	struct str ca_file, cert_file, key_file;
	struct str username, password;
	struct kube_exec exec; /* command empty: none; token and username come before it */
};

struct kube_config_args {
	struct str master;     /* --master: instead of the context's server */
	struct str kubeconfig; /* --kubeconfig: instead of KUBECONFIG */
	struct str context;
	bool in_cluster; /* --run-in-cluster: nothing else is looked at */
	/* Environment, passed in: KUBECONFIG (several files with ':'), USE_KUBE_CONFIG, HOME,
	   KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT. */
	const char *(*env)(void *cookie, const char *name);
	/* Files, passed in; NULL: file_read. */
	enum file_read (*read)(void *cookie, struct str *ret, const char *path, struct arena *a, struct err *e);
	void *cookie;
	struct str account_dir; /* empty: /var/run/secrets/kubernetes.io/serviceaccount */
};

/* Order: --run-in-cluster; --kubeconfig; KUBECONFIG or USE_KUBE_CONFIG; the pod's account if there is one;
   ~/.kube/config; --master alone. Fails with one line that names the file and the field, or says what was
   looked at; secrets are never in it. Memory from A. */
bool kube_config_load(struct kube_config *ret, const struct kube_config_args *args, struct arena *a, struct err *e);

#endif
