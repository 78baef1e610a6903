/* Requests that turn their connection into a WebSocket. */
#ifndef LOCAL_API_UPGRADE_H
#define LOCAL_API_UPGRADE_H

#include "http/websocket.h"
#include "local/api/internal.h"

/* Which of PROTOCOLS (NULL ends them, the best one first) it is to be. NULL: it asks for no such WebSocket, and has
   been answered; WHAT ("exec") is for the words. */
const char *upgrade_choose(struct api_answering *q, const char *what, const char *const *protocols);
/* From here on it is one. */
void upgrade_begin(struct api_answering *q, const char *protocol, const struct http_wire_config *w);

#endif
