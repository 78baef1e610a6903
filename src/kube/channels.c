#include "kube/channels.h"

#include "base/json.h"
#include "http/websocket_client.h"
#include "kube/auth.h"

#define NEWEST "v5.channel.k8s.io"
#define PROTOCOLS NEWEST ", v4.channel.k8s.io"
enum { CLOSE_CHANNEL = 255 };

struct kube_channels {
	struct loop *loop;
	struct kube_config kube;
	struct kube_channels_config config;
	struct kube_auth *auth;
	struct loop_timer *begin;
	struct websocket *socket;
	bool ends, over;
	int channel; /* of the message that comes; -1: not known yet */
};

static void finish(struct kube_channels *k, int code, struct str message)
{
	if (k->over)
		return;
	k->over = true;
	k->config.closed(k->config.cookie, code, message);
}

static void on_opened(void *cookie, struct str protocol)
{
	struct kube_channels *k = cookie;

	k->ends = str_eqc(protocol, NEWEST);
	k->config.ready(k->config.cookie);
}

static void on_piece(void *cookie, const struct ws_piece *p)
{
	struct kube_channels *k = cookie;
	struct str bytes = p->bytes;

	if (p->first)
		k->channel = -1;
	if (k->channel < 0 && bytes.n) {
		k->channel = (unsigned char)bytes.p[0];
		bytes = str_sub(bytes, 1, bytes.n);
	}
	if (k->channel >= 0 && !k->over)
		k->config.bytes(k->config.cookie, (unsigned)k->channel, bytes, p->last);
}

static void on_drained(void *cookie)
{
	struct kube_channels *k = cookie;

	if (!k->over)
		k->config.ready(k->config.cookie);
}

/* A refusal is a Status, and what is none is said as it is. */
static void on_closed(void *cookie, int status, struct str text)
{
	struct kube_channels *k = cookie;
	yyjson_doc *doc CLEANUP(json_docp) = status ? json_parse(text, NULL) : NULL;
	struct str message = json_str(json_get(yyjson_doc_get_root(doc), "message"));

	if (status == HTTP_UNAUTHORIZED)
		kube_auth_refused(k->auth);
	finish(k, status, message.n ? message : text);
}

static void connect_now(struct kube_channels *k)
{
	struct err e = ERR_INIT;
	struct websocket_config c = { .path = k->config.path,
		                      .protocols = STR(PROTOCOLS),
		                      .opened = on_opened,
		                      .piece = on_piece,
		                      .drained = on_drained,
		                      .closed = on_closed,
		                      .cookie = k };

	if (k->socket || k->over)
		return;
	switch (kube_auth_header(k->auth, &c.authorization, &e)) {
	case KUBE_AUTH_WAIT:
		return;
	case KUBE_AUTH_HAVE:
		k->socket = websocket_open(k->loop, &k->kube.server, &c, &e);
		break;
	case KUBE_AUTH_FAILED:
		break;
	}
	if (!k->socket)
		finish(k, 0, str_c(err_msg(&e)));
	err_release(&e);
}

static void on_begin(void *cookie)
{
	connect_now(cookie);
}

struct kube_channels *kube_channels_new(struct loop *l, const struct kube_config *c,
                                        const struct kube_channels_config *config)
{
	struct kube_channels *k = xcalloc(1, sizeof(*k));

	k->loop = l;
	k->kube = *c;
	if (!k->kube.server.user_agent.n)
		k->kube.server.user_agent = STR("dljob/" DL_VERSION);
	k->config = *config;
	k->channel = -1;
	k->begin = loop_timer_new(l, on_begin, k);
	k->auth = kube_auth_new(l, &k->kube, on_begin, k);
	loop_timer_set(k->begin, 0);
	return k;
}

void kube_channels_free(struct kube_channels *k)
{
	if (!k)
		return;
	loop_timer_free(k->begin);
	websocket_free(k->socket);
	kube_auth_free(k->auth);
	free(k);
}

void kube_channels_put(struct kube_channels *k, unsigned channel, struct str bytes)
{
	char number = (char)channel;

	if (k->socket && !k->over)
		websocket_put(k->socket, WS_BINARY, (struct str){ &number, 1 }, bytes);
}

size_t kube_channels_waiting(const struct kube_channels *k)
{
	return k->socket ? websocket_waiting(k->socket) : 0;
}

bool kube_channels_end(struct kube_channels *k, unsigned channel)
{
	char number = (char)channel;

	if (k->ends)
		kube_channels_put(k, CLOSE_CHANNEL, (struct str){ &number, 1 });
	return k->ends;
}

void kube_channels_pause(struct kube_channels *k, bool pause)
{
	if (k->socket)
		websocket_pause(k->socket, pause);
}
