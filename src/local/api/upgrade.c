#include "local/api/upgrade.h"

static bool asks(struct api_answering *q)
{
	return ws_lists(http_header(q->x, "Connection"), STR("upgrade")) &&
	       ws_lists(http_header(q->x, "Upgrade"), STR("websocket"));
}

const char *upgrade_choose(struct api_answering *q, const char *what, const char *const *protocols)
{
	struct str offered = http_header(q->x, "Sec-WebSocket-Protocol");
	const char *first = *protocols;

	/* kubectl that finds no WebSocket asks once more, with SPDY. */
	if (!asks(q)) {
		answer_status(q, HTTP_BAD_REQUEST,
		              "the local cluster has %s over WebSockets only: use 'dljob %s --local'%s", what, what,
		              strcmp(what, "exec") != 0 ? ""
		                                        : ", or kubectl 1.31 or later without "
		                                          "KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false");
		return NULL;
	}
	while (*protocols && !ws_lists(offered, str_c(*protocols)))
		protocols++;
	if (*protocols && str_eqc(http_header(q->x, "Sec-WebSocket-Version"), "13") &&
	    http_header(q->x, "Sec-WebSocket-Key").n == WS_KEY)
		return *protocols;
	answer_status(q, HTTP_BAD_REQUEST, "not a WebSocket of version 13 with the protocol %s", first);
	return NULL;
}

void upgrade_begin(struct api_answering *q, const char *protocol, const struct http_wire_config *w)
{
	char accept[WS_ACCEPT + 1];
	struct buf head = BUF_INIT(1024);

	ws_accept(accept, http_header(q->x, "Sec-WebSocket-Key"));
	buf_printf(&head,
	           "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	           "Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n",
	           accept, protocol);
	http_wire(q->x, w);
	http_wire_put(q->x, buf_str(&head));
	buf_release(&head);
}
