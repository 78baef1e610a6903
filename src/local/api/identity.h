/* Who the API is and who may speak to it, kept in a folder: certificates, a token, the port of last time, and the
   kubeconfig with which kubectl finds it. */
#ifndef LOCAL_API_IDENTITY_H
#define LOCAL_API_IDENTITY_H

#include "local/api/tls.h"

struct tls_name {
	struct tls_identity tls;
	struct str token;
	int port; /* of last time; 0: there was none */
};

/* What is kept, and new ones for what is missing, damaged, too old or readable by others. Strings are in A. False, with
 *E: the folder cannot be used. */
bool identity_load(struct tls_name *ret, const char *folder, msec now, struct arena *a, struct err *e);
/* Keeps the port, and writes FOLDER/kubeconfig and FOLDER/ca.pem. */
bool identity_publish(const struct tls_name *id, const char *folder, int port, struct err *e);
/* Does "Bearer TOKEN" carry our token? Takes as long for one that is nearly right as for any other. */
bool identity_admits(const struct tls_name *id, struct str authorization);

#endif
