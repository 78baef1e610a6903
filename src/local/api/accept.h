/* In which forms somebody takes an answer: the Accept header. */
#ifndef LOCAL_API_ACCEPT_H
#define LOCAL_API_ACCEPT_H

#include "base/str.h"

enum accept_form {
	ACCEPT_NONE, /* in none that we have: 406 */
	ACCEPT_JSON,
	ACCEPT_TABLE,          /* rows for people */
	ACCEPT_DISCOVERY,      /* all resources at once, apidiscovery.k8s.io/v2 */
	ACCEPT_DISCOVERY_BETA, /* … v2beta1 */
};

/* The first form of the header that we have. Those that are not in ALLOWED (bits, 1 << form) do not count. */
enum accept_form accept_form(struct str header, unsigned allowed);
/* As it stands in the answer. */
const char *accept_content_type(enum accept_form f);

#endif
