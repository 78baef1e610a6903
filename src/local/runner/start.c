#include "local/runner/start.h"

#include "base/file.h"
#include "local/runner/admit.h"
#include "local/runner/companion.h"
#include "local/runner/events.h"
#include "local/runner/hosts.h"
#include "local/runner/kept.h"
#include "local/runner/pods.h"
#include "local/runner/process.h"
#include "local/runner/spec.h"
#include "local/runner/status.h"
#include "local/runner/together.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUND_PODS = 16 };
static const msec round_time = 25, back_off_least = SECONDS(1), back_off_most = SECONDS(30);

static void try_again(struct runner *r, struct runner_pod *p)
{
	msec delay = back_off_least << MIN(p->tries, 5);

	p->tries++;
	p->retry_at = r->now + MIN(delay, back_off_most);
	runner_wake_at(r, p->retry_at);
}

static void give_network_back(struct runner *r, struct runner_pod *p)
{
	if (p->netns >= 0)
		close(p->netns);
	p->netns = -1;
	if (p->has_ip)
		net_pod_remove(r->c.net, str_c(p->uid), NULL);
	p->has_ip = false;
	r->hosts_due = true;
}

/* The machine said no: a full disk, too many processes. It may pass. */
static void put_off(struct runner *r, struct runner_pod *p, const char *reason, const char *why)
{
	give_network_back(r, p);
	event_say(r, p, EVENT_WARNING, reason, STR_NONE, "%s", why);
	status_waiting(r, p, STR_NONE, reason, str_c(why));
	try_again(r, p);
}

static void refuse(struct runner *r, struct runner_pod *p, const struct pod_refusal *why, const char *message)
{
	give_network_back(r, p);
	event_say(r, p, EVENT_WARNING, "Failed", why->container, "Error: %s", message);
	if (!why->retry) {
		status_fail(r, p, why->reason, str_c(message));
		return;
	}
	status_waiting(r, p, why->container, why->reason, str_c(message));
	p->lacks = true;
	try_again(r, p);
}

static void make_network(struct runner *r, struct runner_pod *p)
{
	struct net_pod n = { .ns = -1 };
	struct err e = ERR_INIT;
	bool ok = true;

	if (p->wants.gpus > r->c.machine.gpus) {
		status_fail(r, p, "NeverFits", STR("requests more GPUs than this machine has"));
		return;
	}
	if (!admit_gpus(r, p)) {
		status_waiting(r, p, STR_NONE, "ContainerCreating", STR("waiting for GPUs that other pods still hold"));
		try_again(r, p);
		return;
	}
	if (!spec_take_ports(r, p, &e)) {
		status_fail(r, p, "HostPortConflict", str_c(err_msg(&e)));
		err_release(&e);
		return;
	}
	if (companion_on_host(p))
		snprintf(p->ip, sizeof(p->ip), "%s", r->host_ip);
	else
		ok = net_pod_add(r->c.net, str_c(p->ns), str_c(p->name), str_c(p->uid), &n, &e);
	if (!ok) {
		put_off(r, p, "FailedCreatePodSandBox", err_msg(&e));
		err_release(&e);
		return;
	}
	if (n.ip[0])
		snprintf(p->ip, sizeof(p->ip), "%s", n.ip);
	p->netns = n.ns;
	p->has_ip = true;
	r->hosts_due = true;
}

static bool put_link(struct runner *r, struct runner_pod *p, const char *name, struct str to, struct err *e)
{
	const char *path = arena_printf(&r->round, "%s/%s", p->folder, name).p;

	unlink(path);
	return symlink(to.p, path) == 0 || err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
}

/* The pod's own is a file here by another name: its containers may write to it. */
static bool put_hosts(struct runner *r, struct runner_pod *p, struct err *e)
{
	const char *path = arena_printf(&r->round, "%s/hosts", p->folder).p;
	bool own;
	struct str from = net_hosts_path(r->c.net, str_c(p->ns), str_c(p->name), &own, &r->round);

	unlink(path);
	return (own && link(from.p, path) == 0) || put_link(r, p, "hosts", from, e);
}

/* The pod's own, which its containers may write to. FROM is what it begins with; nothing, if that is not there. */
static bool put_copy(struct runner *r, struct runner_pod *p, const char *name, struct str from, struct err *e)
{
	const char *path = arena_printf(&r->round, "%s/%s", p->folder, name).p;
	struct str text;
	ssize_t n = -1;
	int fd;

	unlink(path);
	if (file_read(&text, from.p, &r->round, NULL) != FILE_READ)
		return true;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd >= 0) {
		/* Whatever the umask says. */
		(void)fchmod(fd, 0644);
		errno = ENOSPC;
		n = write(fd, text.p, text.n);
		close(fd);
	}
	return n == (ssize_t)text.n || err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
}

static bool prepare_spec(struct runner *r, struct runner_pod *p, struct pod_spec *spec, struct err *e)
{
	struct str place;

	if (p->netns >= 0)
		spec->network = arena_printf(&r->round, "/proc/%d/fd/%d", (int)getpid(), p->netns);
	if (!r->resolv_known)
		r->resolv = net_resolv_path(r->c.net, &r->arena);
	r->resolv_known = true;
	place = kept_place(r, p);
	return pod_prepare(p->folder, spec, e) && (str_empty(place) || put_link(r, p, "job", place, e)) &&
	       put_hosts(r, p, e) && put_copy(r, p, "resolv.conf", r->resolv, e);
}

static void say_images(struct runner *r, struct runner_pod *p, const struct pod_spec *spec)
{
	for (size_t i = 0; i < spec->containers.n; i++) {
		const struct pod_container *c = &spec->containers.v[i];

		if (c->rootfs.n)
			event_say(r, p, EVENT_NORMAL, "Pulled", c->name, "Image \"%.*s\" is the tree %.*s",
			          STR_F(c->image), STR_F(c->rootfs));
		else
			event_say(r, p, EVENT_NORMAL, "Pulled", c->name,
			          "Image \"%.*s\" is not pulled: the command runs in the machine's own file system",
			          STR_F(c->image));
	}
}

static void start_pod(struct runner *r, struct runner_pod *p)
{
	struct pod_start_options o = { .exe = r->c.exe, .tied = r->c.tied };
	struct pod_refusal why = { .reason = NULL };
	struct spec_docs docs = { 0 };
	struct err e = ERR_INIT;
	struct pod_spec spec;
	pid_t pid;

	if (!spec_make(r, p, &spec, &docs, &why, &e)) {
		refuse(r, p, &why, err_msg(&e));
	} else if (!prepare_spec(r, p, &spec, &e)) {
		put_off(r, p, "FailedCreatePodSandBox", err_msg(&e));
	} else {
		/* Before the start: its first word is heard. */
		start_watch_folder(r, p);
		if (pod_start(p->folder, &o, &pid, &e)) {
			start_attach(r, p, pid);
			p->tries = 0;
			p->lacks = false;
			say_images(r, p, &spec);
		} else {
			process_forget(r, p);
			put_off(r, p, "FailedCreatePodSandBox", err_msg(&e));
		}
	}
	spec_docs_release(&docs);
	err_release(&e);
}

/* A ConfigMap or a Secret has changed: it may be what somebody waits for. */
static void retry_lacking(struct runner *r)
{
	for (struct runner_pod *p = r->first_pod; p; p = p->next)
		if (p->lacks)
			p->retry_at = MIN(p->retry_at, r->now);
	r->config_due = false;
}

static bool is_due(struct runner *r, struct runner_pod *p)
{
	if (p->stage != RUN_BOUND || p->gone || pods_is_deleting(p))
		return false;
	if (p->retry_at <= r->now)
		return true;
	runner_wake_at(r, p->retry_at);
	return false;
}

static bool wants_network(struct runner *r, const struct runner_pod *p)
{
	(void)r;
	return !p->has_ip;
}

static bool wants_start(struct runner *r, const struct runner_pod *p)
{
	return p->has_ip && together_may_start(r, p);
}

/* Of those that LIKE likes the ones that have been due for longest, in that order: whoever fails again and again keeps
   nobody from his turn. Returns how many there are, which may be more than RET has room for. */
static size_t find_due(struct runner *r, struct runner_pod *ret[ROUND_PODS],
                       bool (*like)(struct runner *, const struct runner_pod *))
{
	size_t n = 0, at;

	for (struct runner_pod *p = r->first_pod; p; p = p->next) {
		if (!is_due(r, p) || !like(r, p))
			continue;
		for (at = MIN(n, (size_t)ROUND_PODS); at > 0 && ret[at - 1]->retry_at > p->retry_at; at--)
			if (at < ROUND_PODS)
				ret[at] = ret[at - 1];
		if (at < ROUND_PODS)
			ret[at] = p;
		n++;
	}
	return n;
}

/* As many as a round takes; one at least, so that each round gets on. */
static bool goes_on(const struct runner *r, size_t done, size_t due, msec end)
{
	return done < MIN(due, (size_t)ROUND_PODS) && (done == 0 || loop_now(r->c.loop) < end);
}

static void give_networks(struct runner *r)
{
	msec end = loop_now(r->c.loop) + round_time;
	struct runner_pod *chosen[ROUND_PODS];
	size_t due = find_due(r, chosen, wants_network), i;

	for (i = 0; goes_on(r, i, due, end); i++)
		make_network(r, chosen[i]);
	if (i < due)
		runner_wake_at(r, r->now);
}

void start_some(struct runner *r)
{
	struct runner_pod *chosen[ROUND_PODS];
	struct err e = ERR_INIT;
	size_t due, i;
	bool named;
	msec end;

	if (r->config_due)
		retry_lacking(r);
	if (!r->stopping)
		give_networks(r);
	/* Without names they would not find each other. */
	named = !r->hosts_due || hosts_update(r, &e);
	if (!named) {
		r->hosts_due = true;
		runner_trouble(r);
	}
	together_count(r);
	due = r->stopping ? 0 : find_due(r, chosen, wants_start);
	end = loop_now(r->c.loop) + round_time;
	for (i = 0; goes_on(r, i, due, end); i++)
		if (named)
			start_pod(r, chosen[i]);
		else
			put_off(r, chosen[i], "FailedCreatePodSandBox", err_msg(&e));
	if (i < due)
		runner_wake_at(r, r->now);
	err_release(&e);
}
