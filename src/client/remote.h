/* The cluster that the commands for people speak to: which one it is, and calls that wait for their answer. */
#ifndef CLIENT_REMOTE_H
#define CLIENT_REMOTE_H

#include "client/cli.h"
#include "client/silence.h"
#include "kube/kube.h"

/* What the command line says of the cluster. */
struct remote_flags {
	const char *kubeconfig, *context, *ns;
	bool local, quiet;
};

enum { REMOTE_OPTS = 5 };
/* Their options, for the end of a command's table: all commands have the same. */
void remote_opts(struct opt *to, struct remote_flags *f);

struct remote {
	struct cli *cli;
	struct loop *loop;
	struct kube *kube;
	struct kube_config config;
	struct str ns; /* --namespace, the context's, or default */
	bool local;
	bool interrupted;
	msec deadline; /* of the whole command, by loop_now(); NEVER: none. Ends every wait */
	struct loop_timer *timer;
	struct loop_signal *signals[2];
	struct arena arena;
	unsigned waiting; /* answers that are still to come */
	struct silence silence;
	/* Before something is written to standard error meanwhile: a line that is begun is ended. May be NULL. */
	void (*before_saying)(void *cookie);
	void *before_saying_cookie;
};

/* Finds the cluster that kubectl would use, or the one on this machine, and says which on standard error unless SILENT
   or --quiet. Nothing is sent yet. False: return cli->status. */
bool remote_open(struct remote *r, struct cli *cli, const struct remote_flags *f, bool silent);
void remote_close(struct remote *r);
/* Is it the cluster on this machine, whichever kubeconfig named it? Its CA says so. */
bool remote_is_here(struct remote *r);

/* One call and what came of it. */
struct remote_call {
	enum http_method method;
	struct str path, body, content_type;
	/* The answer. */
	int code;                   /* HTTP's; 0: none came */
	struct str reason, message; /* of a refusal; in the arena of the remote */
	yyjson_doc *doc;            /* free it with remote_call_release() */
	yyjson_val *root;
	struct remote *remote;
};
static inline bool remote_ok(const struct remote_call *c)
{
	return http_is_good(c->code);
}
/* Sends all of them at once and waits for the answers. False: the command was interrupted, or its time is over:
   cli->status says which. Then only remote_close() makes sense. */
bool remote_do(struct remote *r, struct remote_call *calls, size_t n);
void remote_call_release(struct remote_call *c);
/* Runs the loop until DONE says so (asked whenever something may have changed: call remote_wake()). False: as
   remote_do(). */
bool remote_wait(struct remote *r, bool (*done)(void *cookie), void *cookie);
void remote_wake(struct remote *r);

/* One line that says what a refusal means and what to do about it. WHAT: what was wanted ("list TfJob"). Returns
   CLI_FAILED. */
enum exit_code remote_refused(struct remote *r, const char *what, int code, struct str message);

/* A list of any length, by pages. */
typedef VEC(yyjson_val *) remote_items;
struct remote_list {
	struct kube_resource resource;
	struct kube_list_options options;
	int code; /* of the page that went wrong, or 200 */
	struct str message;
	remote_items items; /* in the arena of the remote; their documents live until remote_close() */
	VEC(yyjson_doc *) docs;
};
/* All lists at once. False: as remote_do(). */
bool remote_lists(struct remote *r, struct remote_list *lists, size_t n);
void remote_list_release(struct remote_list *l);

/* Where objects of a kind live. */
struct kube_resource remote_kind(const struct kind *k);
extern const struct kube_resource remote_pods, remote_events;
/* The path of one object. */
struct str remote_path(struct remote *r, const struct kube_resource *resource, struct str ns, struct str name);

#endif
