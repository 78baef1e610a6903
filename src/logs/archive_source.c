#include "logs/archive_source.h"

#include "base/list.h"
#include "logs/request.h"
#include "term/plain.h"

static const msec soon = SECONDS(1);        /* a stream that ended before its container */
static const msec retry_most = SECONDS(30); /* between two tries */
static const msec silence = MINUTES(10);    /* a stream is opened anew: nobody says that a connection is dead */
static const msec fresh = SECONDS(1);       /* a pod that was there so long ago is still the same */

enum { TRIES = 5 /* without `follow` */, ANSWER_MAX = 4 << 20 };

static void set_state(struct archive_source *s, enum source_state state)
{
	s->all->n[s->state]--;
	s->state = state;
	s->all->n[state]++;
}

static msec now(const struct archive_source *s)
{
	return loop_now(s->all->session->remote.loop);
}

struct archive_source *source_new(struct archive_sources *all, struct str key, struct str uid, struct str pod,
                                  const struct archive_name *name)
{
	struct buf path = BUF_INIT(ARCHIVE_PATH_MAX);
	struct archive_source *s = NULL;
	size_t run;

	if (archive_path(&path, name, &run) && !path.overflow && archive_part(pod)) {
		s = xcalloc(1, sizeof(*s));
		s->all = all;
		s->key = arena_str(&s->arena, key);
		s->uid = arena_str(&s->arena, uid);
		s->ns = arena_str(&s->arena, name->ns);
		s->pod = arena_str(&s->arena, pod);
		s->container = arena_str(&s->arena, name->container);
		s->path = arena_str(&s->arena, buf_str(&path));
		s->run = run;
		s->file.fd = -1;
		s->answer = (struct buf)BUF_INIT(ANSWER_MAX);
		deque_append(&all->first, &all->last, s);
		all->n[SOURCE_WAITS]++;
		map_put(&all->by_key, s->key, s);
	}
	buf_release(&path);
	return s;
}

void source_free(struct archive_source *s)
{
	struct archive_sources *all = s->all;

	all->n[s->state]--;
	map_del(&all->by_key, s->key);
	deque_drop(&all->first, &all->last, s);
	kube_stream_close(s->stream);
	loop_timer_free(s->timer);
	archive_file_close(&s->file);
	buf_release(&s->answer);
	arena_release(&s->arena);
	free(s);
}

/* Something that is no log line. */
static void report_source(const struct archive_source *s, const char *what, struct str why)
{
	plain_printf(stderr, "dljob logs: %.*s/%.*s (%.*s): %s%s%.*s\n", STR_F(s->ns), STR_F(s->pod),
	             STR_F(s->container), what, why.n ? ": " : "", STR_F(why));
}

static void tell_unwritten(struct archive_source *s, struct err *e)
{
	s->unwritten = true;
	report_source(s, "its log cannot be archived", str_c(err_msg(e)));
	err_release(e);
}

static void woken(void *cookie)
{
	struct archive_source *s = cookie;

	set_state(s, SOURCE_WAITS);
	remote_wake(&s->all->session->remote);
}

static void sleep_for(struct archive_source *s, msec delay)
{
	if (!s->timer)
		s->timer = loop_timer_new(s->all->session->remote.loop, woken, s);
	set_state(s, SOURCE_SLEEPS);
	loop_timer_set(s->timer, delay);
}

/* S may be gone. */
static void done(struct archive_source *s)
{
	set_state(s, SOURCE_DONE);
	loop_timer_free(s->timer);
	s->timer = NULL;
	if (s->pod_gone)
		source_free(s);
}

static void give_up(struct archive_source *s, const char *what, struct str why)
{
	report_source(s, what, why);
	s->all->some_failed = true;
	done(s);
}

/* Later, unless nobody waits. */
static void try_again(struct archive_source *s, struct str why)
{
	if (s->got && !s->unwritten)
		s->delay = 0;
	s->delay = s->delay ? MIN(s->delay * 2, retry_most) : soon;
	if (s->pod_gone)
		done(s);
	else if (!s->all->o->follow && ++s->tries >= TRIES)
		give_up(s, "its log cannot be read", why);
	else
		sleep_for(s, s->delay);
}

void source_told(struct archive_source *s, bool running, int64_t restarts)
{
	bool ended = s->running && !running, again = restarts > s->restarts;

	s->told_at = now(s);
	s->running = running;
	s->restarts = restarts;
	/* What comes is of its run before; that of the next is read after it. */
	if (again)
		s->to_the_end = false;
	if (s->state == SOURCE_DONE && again)
		set_state(s, SOURCE_WAITS);
	/* Its pod may be removed at any moment. */
	if (s->state == SOURCE_SLEEPS && ended)
		loop_timer_set(s->timer, 0);
}

void source_pod_gone(struct archive_source *s)
{
	s->pod_gone = true;
	s->running = false;
	/* Another pod of that name has another log. One that is read is read to its end. */
	if (s->state != SOURCE_READS)
		source_free(s);
}

static bool on_log(void *cookie, struct str piece)
{
	struct archive_source *s = cookie;
	struct err e = ERR_INIT;
	uint64_t before = s->file.size;

	s->got = true;
	s->all->some_read = true;
	if (!archive_file_put(&s->file, piece, &e))
		tell_unwritten(s, &e);
	s->all->written += s->file.size - before;
	/* One that runs may write for ever. */
	if (s->file.size > before && !s->running)
		s->all->written_at = now(s);
	remote_wake(&s->all->session->remote);
	return !s->unwritten;
}

/* The stream came to its end, and the file has all of it. */
static void read_well(struct archive_source *s)
{
	s->delay = 0;
	if (s->to_the_end || s->pod_gone || !s->all->o->follow) {
		s->all->n_kept++;
		done(s);
	} else if (s->running) {
		sleep_for(s, soon);
	} else {
		/* Once more, for what was written at the very end. */
		set_state(s, SOURCE_WAITS);
	}
}

/* The account may not, or one log may not be read: a role that is being changed, a webhook that is away. */
static void on_refusal(struct archive_source *s, const struct outcome *o)
{
	struct archive_sources *all = s->all;

	if (!all->some_read) {
		all->status = remote_refused(&all->session->remote, "read logs", o->code, o->message);
		sleep_for(s, retry_most);
		return;
	}
	if (!s->refused)
		report_source(s, "reading its log is forbidden", o->message);
	s->refused = true;
	try_again(s, o->message);
}

static void on_log_end(void *cookie, const struct outcome *o, msec took)
{
	struct archive_source *s = cookie;
	struct archive_sources *all = s->all;
	bool whole = http_is_good(o->code) && !o->message.n && !s->unwritten;
	struct err e = ERR_INIT;

	s->stream = NULL;
	if (http_is_good(o->code)) {
		all->some_read = true;
		s->refused = false;
	}
	/* One that lasted is none that failed, though it may have had nothing to say. */
	if (took > retry_most)
		s->delay = 0;
	if (whole && (s->to_the_end || s->pod_gone) && !archive_file_complete(&s->file, &e)) {
		tell_unwritten(s, &e);
		whole = false;
	}
	archive_file_close(&s->file);
	remote_wake(&all->session->remote);
	if (whole) {
		read_well(s);
	} else if (o->code == HTTP_UNAUTHORIZED || o->code == HTTP_FORBIDDEN) {
		on_refusal(s, o);
	} else if (http_is_client_error(o->code) && o->code != HTTP_NOT_FOUND && o->code != HTTP_TOO_MANY &&
	           (s->to_the_end || !all->o->follow)) {
		give_up(s, "there is no log", o->message);
	} else {
		/* 404, too: a node says so for a moment, and whether the pod is gone is asked before the next try. */
		try_again(s, o->message);
	}
}

static void read_log(struct archive_source *s)
{
	struct archive_sources *all = s->all;
	struct buf path = BUF_INIT(LOG_PATH_MAX);
	struct err e = ERR_INIT;

	s->got = s->unwritten = false;
	if (!archive_file_open(&s->file, all->o->dir, s->path, &e)) {
		tell_unwritten(s, &e);
		try_again(s, STR("there is no file for it"));
		return;
	}
	log_request_path(&path, &(struct log_request){ .ns = s->ns,
	                                               .pod = s->pod,
	                                               .container = s->container,
	                                               .follow = all->o->follow && s->running,
	                                               .since_time = s->file.resume.point.time,
	                                               .tail = -1 });
	s->to_the_end = !s->running;
	set_state(s, SOURCE_READS);
	s->stream = kube_stream_open(all->session->remote.kube, &(struct kube_stream_spec){ .path = buf_str(&path),
	                                                                                    .idle_timeout = silence,
	                                                                                    .data = on_log,
	                                                                                    .done = on_log_end,
	                                                                                    .cookie = s });
	buf_release(&path);
}

static bool on_pod(void *cookie, struct str piece)
{
	struct archive_source *s = cookie;

	buf_put(&s->answer, piece);
	return !s->answer.overflow;
}

static void on_pod_end(void *cookie, const struct outcome *o, msec took)
{
	struct archive_source *s = cookie;
	yyjson_doc *doc = o->code == HTTP_OK ? json_parse(buf_str(&s->answer), NULL) : NULL;
	struct str uid = json_str(json_at(yyjson_doc_get_root(doc), "metadata", "uid", NULL));

	(void)took;
	s->stream = NULL;
	remote_wake(&s->all->session->remote);
	if (o->code == HTTP_NOT_FOUND || (uid.n && !str_eq(uid, s->uid)))
		done(s);
	else if (!uid.n)
		try_again(s, o->message);
	else
		read_log(s);
	yyjson_doc_free(doc);
}

/* A log is asked for by the pod's name; another pod may have it by now. */
static void ask_for_pod(struct archive_source *s)
{
	struct buf path = BUF_INIT(LOG_PATH_MAX);

	buf_clear(&s->answer);
	buf_printf(&path, "/api/v1/namespaces/%.*s/pods/%.*s", STR_F(s->ns), STR_F(s->pod));
	set_state(s, SOURCE_ASKS);
	s->stream =
		kube_stream_open(s->all->session->remote.kube, &(struct kube_stream_spec){ .path = buf_str(&path),
	                                                                                   .idle_timeout = retry_most,
	                                                                                   .data = on_pod,
	                                                                                   .done = on_pod_end,
	                                                                                   .cookie = s });
	buf_release(&path);
}

/* Two pods of one replica and generation, one after the other, share a file. */
static bool file_is_used(const struct archive_source *s)
{
	for (const struct archive_source *other = s->all->first; other; other = other->next)
		if (other->file.fd >= 0 && str_eq(other->path, s->path))
			return true;
	return false;
}

void sources_pump(struct archive_sources *all)
{
	struct archive_source *s = all->first, *later;

	for (; s && all->n[SOURCE_WAITS] && all->n[SOURCE_ASKS] + all->n[SOURCE_READS] < ARCHIVE_STREAMS; s = later) {
		later = s->next;
		if (s->state != SOURCE_WAITS || file_is_used(s))
			continue;
		if (now(s) - s->told_at < fresh)
			read_log(s);
		else
			ask_for_pod(s);
	}
}
