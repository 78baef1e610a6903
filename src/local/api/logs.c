/* Logs of containers: what is there, and with follow what comes until the container has ended. */
#include "base/json.h"
#include "local/api/internal.h"
#include "local/pod/tail.h"

#include <dirent.h>

enum { PIECE = 256 << 10, POLL_MS = 300, FOLDER_MAX = 4096 };

struct log_reader {
	struct api *api;
	struct http_exchange *x;
	struct pod_tail *tail;
	struct store_watch *watch; /* of the pod: follow */
	struct loop_timer *timer;
	char *container;
	int64_t run;
	int64_t left;   /* bytes; -1: no limit */
	char since[40]; /* as lines have it; empty: from the beginning */
	bool timestamps, follow;
	bool ended; /* the container has: nothing more will be written */
	bool over, in_line;
	bool is_stderr; /* … of standard error */
	bool began;     /* a line has been read */
	struct buf out;
};

/* Whether the container whose run RUN is read has ended, by what the pod says. */
static bool has_ended(yyjson_val *pod, struct str container, int64_t run)
{
	static const char *const lists[] = { "containerStatuses", "initContainerStatuses" };
	struct str phase = json_str(json_at(pod, "status", "phase", NULL));

	if (str_eqc(phase, "Succeeded") || str_eqc(phase, "Failed"))
		return true;
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		yyjson_val *v, *state;
		size_t i, max;
		int64_t count;

		yyjson_arr_foreach(json_at(pod, "status", lists[k], NULL), i, max, v)
		{
			if (!str_eq(json_str(json_get(v, "name")), container))
				continue;
			state = json_get(v, "state");
			if (json_int(json_get(v, "restartCount"), &count) && count > run)
				return true;
			if (json_get(state, "terminated"))
				return true;
			return json_get(state, "waiting") && json_at(v, "lastState", "terminated", NULL);
		}
	}
	return false;
}

/* Nothing of it comes any more, but what waits is sent. */
static void end(struct log_reader *r)
{
	if (r->over)
		return;
	r->over = true;
	http_stream_end(r->x);
}

static void put_limited(struct log_reader *r, struct str s)
{
	if (r->left >= 0) {
		s = str_sub(s, 0, (size_t)r->left);
		r->left -= (int64_t)s.n;
	}
	buf_put(&r->out, s);
}

static void put_tail_line(struct log_reader *r, const struct pod_tail_line *line)
{
	/* A line of one stream does not go on with one of the other. */
	if (r->in_line && r->is_stderr != line->is_stderr) {
		put_limited(r, STR("\n"));
		r->in_line = false;
	}
	if (r->timestamps && !r->in_line) {
		put_limited(r, line->time);
		put_limited(r, STR(" "));
	}
	put_limited(r, line->text);
	if (!line->part)
		put_limited(r, STR("\n"));
	r->in_line = line->part;
	r->is_stderr = line->is_stderr;
}

/* In a line of its own, where they would be. */
static void put_lost(struct log_reader *r, const struct pod_tail_line *line)
{
	struct buf text = BUF_INIT(512);

	pod_tail_tell_lost(line->lost, &text);
	if (r->in_line)
		put_limited(r, STR("\n"));
	r->in_line = false;
	put_tail_line(r, &(struct pod_tail_line){ .time = line->time, .text = buf_str(&text) });
	buf_release(&text);
}

/* Reads on, as far as the reader keeps up. */
static void read_on(struct log_reader *r)
{
	struct pod_tail_line line;
	bool ended = r->ended, more = true;

	while (!r->over && http_stream_waiting(r->x) + r->out.n < PIECE && r->left != 0 &&
	       (more = pod_tail_next(r->tail, &line)))
		if (!r->since[0] || memcmp(line.time.p, r->since, MIN(line.time.n, strlen(r->since))) >= 0) {
			if (line.lost && (!r->since[0] || r->began))
				put_lost(r, &line);
			put_tail_line(r, &line);
			r->began = true;
		}
	if (r->out.n && !r->over)
		http_stream_put(r->x, buf_str(&r->out));
	buf_clear(&r->out);
	if ((!more && (ended || !r->follow)) || r->left == 0)
		end(r);
}

static void on_poll_timer(void *cookie)
{
	struct log_reader *r = cookie;

	read_on(r);
	if (!r->over)
		loop_timer_set(r->timer, POLL_MS);
}

static void on_drained(void *cookie)
{
	read_on(cookie);
}

static void on_pod(void *cookie, const struct store_event *ev)
{
	struct log_reader *r = cookie;

	if (ev->change != STORE_DELETED && !has_ended(store_event_root(ev), str_c(r->container), r->run))
		return;
	r->ended = true;
	loop_timer_set(r->timer, 0);
}

static void on_client_gone(void *cookie)
{
	struct log_reader *r = cookie;

	r->api->streams--;
	store_watch_free(r->watch);
	loop_timer_free(r->timer);
	pod_tail_free(r->tail);
	buf_release(&r->out);
	free(r->container);
	free(r);
}

/* Which container */

static bool is_in(yyjson_val *list, struct str name)
{
	yyjson_val *v;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, v)
	{
		if (str_eq(json_str(json_get(v, "name")), name))
			return true;
	}
	return false;
}

static void refuse_choice(struct api_answering *q, yyjson_val *containers)
{
	struct buf names = BUF_INIT(512);
	yyjson_val *v;
	size_t i, max;

	yyjson_arr_foreach(containers, i, max, v)
	{
		buf_printf(&names, "%s%.*s", i ? " " : "", STR_F(json_str(json_get(v, "name"))));
	}
	answer_status(q, HTTP_BAD_REQUEST, "a container name must be specified for pod %.*s, choose one of: [%.*s]",
	              STR_F(q->route->request.name), STR_F(buf_str(&names)));
	buf_release(&names);
}

bool answer_choose_container(struct api_answering *q, yyjson_val *pod, struct str name, struct str *ret)
{
	yyjson_val *containers = json_at(pod, "spec", "containers", NULL);

	if (str_empty(name) && yyjson_arr_size(containers) > 1) {
		refuse_choice(q, containers);
		return false;
	}
	if (str_empty(name))
		name = json_str(json_get(yyjson_arr_get_first(containers), "name"));
	/* It becomes part of a path. */
	if (!str_is_dns_label(name, false) ||
	    (!is_in(containers, name) && !is_in(json_at(pod, "spec", "initContainers", NULL), name))) {
		answer_status(q, HTTP_BAD_REQUEST, "container %.*s is not valid for pod %.*s",
		              STR_F(str_sub(name, 0, 64)), STR_F(q->route->request.name));
		return false;
	}
	*ret = name;
	return true;
}

/* Of the container's state in the pod's status, why it waits. */
static struct str waits_for(yyjson_val *pod, struct str container)
{
	yyjson_val *v;
	size_t i, max;
	struct str reason = STR_NONE;

	yyjson_arr_foreach(json_at(pod, "status", "containerStatuses", NULL), i, max, v)
	{
		if (str_eq(json_str(json_get(v, "name")), container))
			reason = json_str(json_at(v, "state", "waiting", "reason", NULL));
	}
	return reason.n ? reason : STR("ContainerCreating");
}

/* Pods that are gone */

static bool kept_folder(const struct api_answering *q, int before, struct buf *ret)
{
	const struct api_config *c = &q->api->config;
	const struct store_request *r = &q->route->request;

	buf_clear(ret);
	return c->kept_logs && c->kept_logs(c->cookie, r->ns, r->name, before, ret);
}

/* Its object is gone, too: its containers are those that have written. False: it has been answered. */
static bool choose_kept_container(struct api_answering *q, const char *folder, struct str *ret)
{
	struct arena *a = &q->api->arena;
	struct str name = q->route->log.container;
	DIR *dir = str_empty(name) ? opendir(arena_printf(a, "%s/logs", folder).p) : NULL;
	struct buf names = BUF_INIT(4096);
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		if (str_is_dns_label(str_c(entry->d_name), false)) {
			name = arena_str(a, str_c(entry->d_name));
			buf_printf(&names, "%s%s", n++ ? " " : "", entry->d_name);
		}
	if (dir)
		closedir(dir);
	if (n > 1)
		answer_status(q, HTTP_BAD_REQUEST,
		              "a container name must be specified for pod %.*s, choose one of: [%.*s]",
		              STR_F(q->route->request.name), STR_F(buf_str(&names)));
	buf_release(&names);
	if (n > 1)
		return false;
	if (!str_is_dns_label(name, false) || pod_tail_runs(folder, name) < 0) {
		answer_status(q, HTTP_BAD_REQUEST, "container %.*s is not valid for pod %.*s",
		              STR_F(str_sub(name, 0, 64)), STR_F(q->route->request.name));
		return false;
	}
	*ret = name;
	return true;
}

/* The run before the last one in FOLDER, or else the last one of the pod that is gone since. -1: there is none, and it
   has been answered. */
static int64_t choose_previous(struct api_answering *q, struct buf *folder, struct str container, int before)
{
	int64_t run = pod_tail_runs(folder->p, container) - 1;

	if (run < 0)
		run = kept_folder(q, before, folder) ? pod_tail_runs(folder->p, container) : -1;
	if (run < 0)
		answer_status(q, HTTP_BAD_REQUEST, "previous terminated container \"%.*s\" in pod \"%.*s\" not found",
		              STR_F(container), STR_F(q->route->request.name));
	return run;
}

/* -1: there is none, and it has been answered. */
static int64_t choose_run(struct api_answering *q, yyjson_val *pod, struct buf *folder, struct str container)
{
	int64_t last = pod_tail_runs(folder->p, container);
	struct str name = q->route->request.name;

	if (q->route->log.previous)
		return choose_previous(q, folder, container, 0);
	if (last < 0)
		answer_status(q, HTTP_BAD_REQUEST, "container \"%.*s\" in pod \"%.*s\" is waiting to start: %.*s",
		              STR_F(container), STR_F(name), STR_F(waits_for(pod, container)));
	return last;
}

/* Starting */

static void set_since(struct log_reader *r, const struct api_log_options *o)
{
	msec at = o->since_time;
	char text[TIME_TEXT];

	if (o->since_seconds)
		at = clock_now(r->api->config.clock) - SECONDS(MIN(o->since_seconds, (int64_t)100 * 365 * 24 * 3600));
	if (!at)
		return;
	time_format(at, text);
	/* Whole seconds, compared as text: 2026-01-02T03:04:05. */
	snprintf(r->since, sizeof(r->since), "%.19s", text);
}

static void start_reader(struct api_answering *q, yyjson_val *pod, const char *folder, struct str container,
                         int64_t run)
{
	const struct api_log_options *o = &q->route->log;
	const struct store_request *p = &q->route->request;
	struct log_reader *r = xcalloc(1, sizeof(*r));
	struct api *a = q->api;

	r->api = a;
	r->x = q->x;
	r->container = xstrndup(container.p, container.n);
	r->run = run;
	r->timestamps = o->timestamps;
	r->left = o->limit_bytes ? o->limit_bytes : -1;
	r->out = (struct buf)BUF_INIT(PIECE + (1 << 20));
	r->timer = loop_timer_new(a->config.loop, on_poll_timer, r);
	r->tail = pod_tail_new(folder, container, run);
	r->ended = !pod || o->previous || has_ended(pod, container, run);
	r->follow = o->follow && !r->ended;
	set_since(r, o);
	if (o->tail_lines >= 0)
		pod_tail_last(r->tail, (size_t)o->tail_lines);
	a->streams++;
	http_stream(q->x, &(struct http_stream_config){ .content_type = "text/plain",
	                                                .max = STREAM_WAITING,
	                                                .drained = on_drained,
	                                                .gone = on_client_gone,
	                                                .cookie = r });
	if (r->follow) {
		struct str field = arena_printf(&a->arena, "metadata.name=%.*s", STR_F(p->name));

		r->watch = store_watch_new(a->config.store,
		                           &(struct store_watch_config){ .type = p->type,
		                                                         .ns = p->ns,
		                                                         .field_selector = field,
		                                                         .from = store_version(a->config.store),
		                                                         .event = on_pod,
		                                                         .cookie = r },
		                           NULL);
		loop_timer_set(r->timer, POLL_MS);
	}
}

/* False: there is nothing of it, and it has not been answered. */
static bool answer_kept(struct api_answering *q)
{
	struct buf folder = BUF_INIT(FOLDER_MAX);
	bool found = kept_folder(q, 0, &folder);
	struct str container;
	int64_t run;

	if (found && choose_kept_container(q, folder.p, &container)) {
		run = q->route->log.previous ? choose_previous(q, &folder, container, 1)
		                             : pod_tail_runs(folder.p, container);
		if (run >= 0 && may_stream(q))
			start_reader(q, NULL, folder.p, container, run);
	}
	buf_release(&folder);
	return found;
}

void answer_log(struct api_answering *q)
{
	const struct store_request *r = &q->route->request;
	struct store_answer a = { 0 };
	struct buf folder = BUF_INIT(FOLDER_MAX);
	yyjson_doc *doc CLEANUP(json_docp) = NULL;
	yyjson_val *pod;
	struct str container;
	int64_t run;

	store_call(q->api->config.store,
	           &(struct store_request){ .verb = STORE_GET, .type = r->type, .ns = r->ns, .name = r->name }, &a);
	if (a.code != HTTP_OK) {
		if (a.code != HTTP_NOT_FOUND || !answer_kept(q))
			answer_json(q, a.code, &a.body);
		store_answer_release(&a);
		return;
	}
	doc = yyjson_read(a.body.p, a.body.n, 0);
	store_answer_release(&a);
	pod = yyjson_doc_get_root(doc);
	if (!answer_choose_container(q, pod, q->route->log.container, &container))
		return;
	if (!q->api->config.pod_folder ||
	    !q->api->config.pod_folder(q->api->config.cookie, r->ns, r->name,
	                               json_str(json_at(pod, "metadata", "uid", NULL)), &folder))
		answer_status(q, HTTP_NOT_FOUND, "pod \"%.*s\" has no logs on this machine", STR_F(r->name));
	else if ((run = choose_run(q, pod, &folder, container)) >= 0 && may_stream(q))
		start_reader(q, pod, folder.p, container, run);
	buf_release(&folder);
}
