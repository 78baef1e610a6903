/*
 * The part of Kubernetes' REST interface that our own client and kubectl's everyday verbs use, on the store: HTTPS on
 * 127.0.0.1 and nowhere else, for those who carry the token. docs/local-api.md says what there is.
 *
 * What a browser is led to (a name that points to 127.0.0.1) carries no token and is answered 401 as everybody else;
 * therefore the Host header is not looked at.
 */
#ifndef LOCAL_API_API_H
#define LOCAL_API_API_H

#include "kind/kind.h"
#include "local/store/store.h"
#include "loop/loop.h"

struct api;

struct api_config {
	struct loop *loop;
	struct store *store;
	const struct kinds *kinds; /* whose manifests are checked; may be NULL */
	const struct clock *clock;
	/* Where its identity is kept: tls.pem, ca.pem, token, port, kubeconfig; all of mode 0600. Made if it is not
	   there; its parent must be. */
	const char *folder;
	int port;            /* 0: that of last time if it is free, else any */
	const char *version; /* of this program, for /version; may be NULL */
	/* The pod's folder (with its logs) appended to RET; false: it has none. May be NULL. */
	bool (*pod_folder)(void *cookie, struct str ns, struct str name, struct str uid, struct buf *ret);
	/* The same for pods of that name that are gone: BEFORE is 0 for the last of them, 1 for the one before it. May
	   be NULL. */
	bool (*kept_logs)(void *cookie, struct str ns, struct str name, int before, struct buf *ret);
	void *cookie;
};

/* NULL, with *E: the folder cannot be used, or the port is taken. FOLDER/kubeconfig is there afterwards. */
struct api *api_open(const struct api_config *c, struct err *e);
/* Ends what is under way. The files stay. */
void api_close(struct api *a);
/* Whose manifests are checked from now on; may be NULL. */
void api_set_kinds(struct api *a, const struct kinds *kinds);
int api_port(const struct api *a);
const char *api_kubeconfig_path(const struct api *a);

#endif
