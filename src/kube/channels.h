/* exec and port-forward: streams of bytes, told apart by a number, over a WebSocket to the API server
   (v5.channel.k8s.io, or v4 where the server is older). */
#ifndef KUBE_CHANNELS_H
#define KUBE_CHANNELS_H

#include "kube/config.h"

struct kube_channels;

struct kube_channels_config {
	struct str path; /* with its query */
	/* Bytes of a channel; END: of a message. */
	void (*bytes)(void *cookie, unsigned channel, struct str bytes, bool end);
	/* Less waits to be sent than before; also at the beginning. */
	void (*ready)(void *cookie);
	/* It has ended, or never began: called once, from the loop. CODE: HTTP's, of a refusal; 0: MESSAGE says what
	   went wrong, or is empty. */
	void (*closed)(void *cookie, int code, struct str message);
	void *cookie;
};

struct kube_channels *kube_channels_new(struct loop *l, const struct kube_config *c,
                                        const struct kube_channels_config *config);
/* Not inside its callbacks. */
void kube_channels_free(struct kube_channels *k);
/* Without a limit: look at what waits before. */
void kube_channels_put(struct kube_channels *k, unsigned channel, struct str bytes);
size_t kube_channels_waiting(const struct kube_channels *k);
/* Nothing more follows on CHANNEL. False: the server is too old to be told. */
bool kube_channels_end(struct kube_channels *k, unsigned channel);
/* Nothing is read meanwhile. */
void kube_channels_pause(struct kube_channels *k, bool pause);

#endif
