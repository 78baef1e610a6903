#include "logs/pods.h"

#include "client/view.h"

bool log_pods_has(const struct log_pods *p, struct str role, int64_t index)
{
	return (!p->role || str_eq_nocase(role, str_c(p->role))) && (p->index < 0 || index == p->index);
}

static struct log_container container_read(yyjson_val *status)
{
	struct log_container c = { .name = json_str(json_get(status, "name")),
		                   .running = json_at(status, "state", "running", NULL),
		                   .ended = json_at(status, "state", "terminated", NULL) };

	json_int(json_get(status, "restartCount"), &c.restarts);
	return c;
}

void log_pods_take(struct log_pods *p, yyjson_val *pod)
{
	static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };
	struct log_pod who = log_pod_read(pod);
	yyjson_val *status;
	size_t i, n;

	if (who.index < 0 || !log_pods_has(p, who.role, who.index))
		return;
	if (p->events.pod)
		p->events.pod(p->events.cookie, &who);
	for (size_t j = 0; j < ARRAY_LEN(lists); j++) {
		yyjson_arr_foreach(json_at(pod, "status", lists[j], NULL), i, n, status)
		{
			struct log_container c = container_read(status);

			p->events.container(p->events.cookie, &who, &c);
		}
	}
}

static void on_pod_put(void *cookie, yyjson_val *pod)
{
	log_pods_take(cookie, pod);
}

static void gone(void *cookie, yyjson_val *pod)
{
	struct log_pods *p = cookie;

	p->events.gone(p->events.cookie, pod);
}

static void listed(void *cookie)
{
	struct log_pods *p = cookie;

	p->listed = true;
	p->events.listed(p->events.cookie);
}

static void end_now(struct log_pods *p)
{
	if (p->ended)
		return;
	p->ended = true;
	p->ended_at = loop_now(p->session->remote.loop);
}

static void take_job(void *cookie, yyjson_val *object)
{
	struct log_pods *p = cookie;
	struct job_view v = job_view(object);

	/* Another one has its name by now. */
	if (!str_eq(v.uid, p->uid) || phase_final(v.phase))
		end_now(p);
}

static void job_gone(void *cookie, yyjson_val *object)
{
	(void)object;
	end_now(cookie);
}

static bool list_once(struct log_pods *p, struct str ns, struct str labels, enum exit_code *status)
{
	struct remote *r = &p->session->remote;
	struct remote_list list = { .resource = remote_pods, .options = { .ns = ns, .label_selector = labels } };
	bool ok = remote_lists(r, &list, 1);

	if (!ok) {
		*status = p->session->cli->status;
	} else if (list.code != HTTP_OK) {
		*status = remote_refused(r, arena_printf(&p->arena, "list %s", p->what).p, list.code, list.message);
		ok = false;
	}
	for (size_t i = 0; ok && i < list.items.n; i++)
		log_pods_take(p, list.items.v[i]);
	if (ok)
		listed(p);
	remote_list_release(&list);
	return ok;
}

bool log_pods_start(struct log_pods *p, bool follow, enum exit_code *status)
{
	struct remote *r = &p->session->remote;
	struct str ns = p->job ? p->job->ns : p->all_namespaces ? STR_NONE : r->ns, labels = STR(LABEL_UID);

	if (p->job) {
		p->uid = arena_str(&p->arena, json_str(json_at(p->job->job.root, "metadata", "uid", NULL)));
		labels = arena_printf(&p->arena, LABEL_UID "=%.*s", STR_F(p->uid));
	}
	if (!follow)
		return list_once(p, ns, labels, status);
	p->pods = follow_new(r, remote_pods, ns, labels, STR_NONE,
	                     &(struct follow_events){ on_pod_put, gone, listed, p });
	if (p->job)
		p->object = follow_new(r, remote_kind(p->job->job.kind), ns, STR_NONE,
		                       arena_printf(&p->arena, "metadata.name=%.*s", STR_F(p->job->name)),
		                       &(struct follow_events){ take_job, job_gone, NULL, p });
	return true;
}

bool log_pods_refused(const struct log_pods *p)
{
	struct str message;

	return (p->pods && follow_refused(p->pods, &message)) || (p->object && follow_refused(p->object, &message));
}

enum exit_code log_pods_refusal(struct log_pods *p)
{
	const struct follow *both[] = { p->pods, p->object };
	struct str message;

	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		int code = both[i] ? follow_refused(both[i], &message) : 0;

		if (code)
			return remote_refused(&p->session->remote,
			                      i ? "watch the job" : arena_printf(&p->arena, "watch %s", p->what).p,
			                      MAX(code, 0), message);
	}
	return CLI_OK;
}

void log_pods_release(struct log_pods *p)
{
	follow_free(p->pods);
	follow_free(p->object);
	arena_release(&p->arena);
}
