#include "local/runner/adopt.h"

#include "base/file.h"
#include "base/log.h"
#include "local/runner/companion.h"
#include "local/runner/events.h"
#include "local/runner/kept.h"
#include "local/runner/pods.h"
#include "local/runner/process.h"
#include "local/runner/spec.h"
#include "local/runner/start.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* The network that it is in is nobody's any more. */
static bool is_cut_off(const struct runner *r, const struct runner_pod *p)
{
	return r->c.world->kind != NET_HOST && !r->c.world->adopted && !companion_on_host(p);
}

static void run_anew(struct runner *r, struct runner_pod *p)
{
	struct err e = ERR_INIT;

	if (!pod_reap(p->folder, r->c.clock, &e) || !kept_remove_pod(r, p, &e))
		log_warn(FIELDS(F_STR("pod", str_c(p->name))), "%s", err_msg(&e));
	err_release(&e);
}

static void adopt_living(struct runner *r, struct runner_pod *p, pid_t pid)
{
	if (r->c.tied) {
		start_attach(r, p, pid);
		process_over(r, p);
		return;
	}
	if (!p->gone && is_cut_off(r, p)) {
		event_say(r, p, EVENT_WARNING, "NetworkLost", STR_NONE, "The pod lost its network and is restarted");
		run_anew(r, p);
		return;
	}
	p->has_ip = net_pod_ip(r->c.net, str_c(p->uid), p->ip);
	if (p->object) {
		spec_take_ports(r, p, NULL);
		companion_adopt(p);
	}
	start_watch_folder(r, p);
	start_attach(r, p, pid);
	p->adopted = p->state_changed = true;
	r->hosts_due = true;
}

static void adopt_one(struct runner *r, struct runner_pod *p)
{
	enum pod_found found = POD_FOUND_NOTHING;
	struct err e = ERR_INIT;
	pid_t pid = 0;

	if (!pod_find(p->folder, &found, &pid, &e)) {
		log_warn(FIELDS(F_STR("pod", str_c(p->name))), "%s", err_msg(&e));
		err_release(&e);
	}
	if (found == POD_FOUND_NOTHING && (pid = pod_parent(p->folder)) > 0)
		found = POD_FOUND_ALIVE;
	switch (found) {
	case POD_FOUND_NOTHING:
		if (p->stage == RUN_BOUND)
			run_anew(r, p);
		break;
	case POD_FOUND_ALIVE:
		adopt_living(r, p, pid);
		break;
	case POD_FOUND_DIED:
	case POD_FOUND_ENDED:
		if (p->stage != RUN_BOUND && !p->gone)
			break;
		p->adopted = true;
		process_over(r, p);
		break;
	}
}

/* Nobody knows it: it is stopped and goes. */
static struct runner_pod *stranger(struct runner *r, struct str uid)
{
	struct runner_pod *p = pods_add(r, uid, STR_NONE, uid);

	p->gone = true;
	p->stage = RUN_ENDED;
	return p;
}

static void forget_addresses(struct runner *r)
{
	VEC(struct str) unknown = { 0 };
	struct str uid, ns, name;
	size_t at = 0;

	while (net_pod_next(r->c.net, &at, &uid, &ns, &name)) {
		struct runner_pod *p = map_get(&r->pods, uid);

		if (!p || p->stage != RUN_LIVES)
			*vec_push(&r->round, &unknown) = arena_str(&r->round, uid);
	}
	for (size_t i = 0; i < unknown.n; i++)
		net_pod_remove(r->c.net, unknown.v[i], NULL);
}

bool adopt_all(struct runner *r, struct err *e)
{
	const char *path = arena_printf(&r->round, "%.*s/pods", STR_F(r->folder)).p;
	struct dirent *entry;
	DIR *dir;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	dir = opendir(path);
	if (!dir)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	while ((entry = readdir(dir))) {
		struct str uid = arena_str(&r->round, str_c(entry->d_name));
		struct runner_pod *p;

		if (entry->d_name[0] == '.')
			continue;
		p = map_get(&r->pods, uid);
		adopt_one(r, p ? p : stranger(r, uid));
	}
	closedir(dir);
	forget_addresses(r);
	return true;
}
