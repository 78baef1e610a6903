/* dljob run: what the replicas write, merged by time, each line with its replica's name in front. */
#include "run/internal.h"

#include "base/json.h"
#include "local/pod/tail.h"
#include "logs/pod.h"

enum { BATCH_LINES = 4096, BATCH_BYTES = 4 << 20, BATCHES_AT_ONCE = 8, PATH_TEXT_MAX = 4096 };

struct run_container {
	struct str name, prefix;
	struct pod_tail *tail;
};

struct run_pod {
	struct arena arena;
	struct str uid, name, role;
	int32_t index;
	bool running;
	struct run_container *containers;
	size_t n;
};

/* worker-1; worker-1/sidecar where there are several containers. */
static void add_containers(struct run *r, struct run_pod *p, const struct log_pod *who, yyjson_val *list, bool alone)
{
	struct buf folder = BUF_INIT(PATH_TEXT_MAX);
	yyjson_val *c;
	size_t i, max;

	embedded_pod_folder(r->em, p->uid, &folder);
	yyjson_arr_foreach(list, i, max, c)
	{
		struct run_container *rc = &p->containers[p->n++];

		rc->name = arena_str(&p->arena, json_str(json_get(c, "name")));
		rc->prefix = log_pod_title(who, alone ? STR_NONE : rc->name, &p->arena);
		rc->tail = pod_tail_new(folder.p, rc->name, -1);
		logline_expect(&r->logs, rc->prefix);
	}
	buf_release(&folder);
}

struct run_pod *run_pod_new(struct run *r, yyjson_val *pod)
{
	struct run_pod *p = xcalloc(1, sizeof(*p));
	yyjson_val *init = json_at(pod, "spec", "initContainers", NULL),
		   *main = json_at(pod, "spec", "containers", NULL);
	size_t n = yyjson_arr_size(init) + yyjson_arr_size(main);
	struct log_pod who = log_pod_read(pod);

	p->uid = arena_str(&p->arena, who.uid);
	p->name = arena_str(&p->arena, who.name);
	p->role = arena_str(&p->arena, who.role);
	p->index = who.index;
	p->containers = arena_array(&p->arena, struct run_container, n);
	add_containers(r, p, &who, init, n == 1);
	add_containers(r, p, &who, main, n == 1);
	map_put(&r->pods, p->uid, p);
	return p;
}

void run_pod_running(struct run *r, struct run_pod *p)
{
	if (p->running)
		return;
	p->running = true;
	run_kills_pod_runs(r, p->role, p->index);
}

bool run_pod_folder(struct run *r, struct str role, int64_t index, struct buf *ret)
{
	struct str key;
	void *value;

	for (size_t at = 0; map_next(&r->pods, &at, &key, &value);) {
		const struct run_pod *p = value;

		if (!p->running || p->index != index || !str_eq_nocase(p->role, role))
			continue;
		embedded_pod_folder(r->em, p->uid, ret);
		return true;
	}
	return false;
}

/* Lines that were read and not yet printed. */
struct batch {
	struct arena arena;
	struct batch_line {
		struct logline line;
		size_t order;
	} * lines;
	size_t n;
};

static void add_line(struct batch *b, const struct run_pod *p, const struct run_container *c,
                     const struct pod_tail_line *l)
{
	b->lines[b->n] = (struct batch_line){
		.line = { .replica = arena_str(&b->arena, c->prefix),
		          .time = arena_str(&b->arena, l->time),
		          .is_stderr = l->is_stderr,
		          .part = l->part,
		          .text = arena_str(&b->arena, l->text),
		          .role = p->role,
		          .pod = p->name,
		          .container = c->name,
		          .index = p->index },
		.order = b->n,
	};
	b->n++;
}

static void add_lost(struct batch *b, const struct run_pod *p, const struct run_container *c,
                     const struct pod_tail_line *l)
{
	struct buf text = BUF_INIT(512);

	pod_tail_tell_lost(l->lost, &text);
	add_line(b, p, c, &(struct pod_tail_line){ .time = l->time, .is_stderr = true, .text = buf_str(&text) });
	buf_release(&text);
}

/* False: the batch is full. */
static bool gather_logs(struct batch *b, const struct run_pod *p)
{
	struct pod_tail_line l;

	for (size_t i = 0; i < p->n; i++) {
		const struct run_container *c = &p->containers[i];

		while (b->n + 1 < BATCH_LINES && b->arena.used < BATCH_BYTES && pod_tail_next(c->tail, &l)) {
			if (l.lost)
				add_lost(b, p, c, &l);
			add_line(b, p, c, &l);
		}
		if (b->n + 1 >= BATCH_LINES || b->arena.used >= BATCH_BYTES)
			return false;
	}
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct batch_line *x = a, *y = b;
	int d = str_cmp(x->line.time, y->line.time);

	return d ? d : x->order < y->order ? -1 : 1;
}

static void print(struct run *r, struct batch *b)
{
	bool bars = r->logs.drawn > 0;

	if (!b->n)
		return;
	/* Where bars are drawn the state stands below them, and what is written takes it away with them. A bar that has
	   only moved is drawn when its turn comes. */
	if (r->drawn && !bars)
		run_hide(r);
	qsort(b->lines, b->n, sizeof(*b->lines), by_time);
	for (size_t i = 0; i < b->n; i++)
		logline_print(&r->logs, &b->lines[i].line);
	if (bars && !r->logs.drawn)
		r->drawn = false;
	fflush(stdout);
	b->n = 0;
	arena_reset(&b->arena);
}

static struct batch batch_new(void)
{
	return (struct batch){ .lines = xcalloc(BATCH_LINES, sizeof(struct batch_line)) };
}

static void batch_release(struct batch *b)
{
	arena_release(&b->arena);
	free(b->lines);
}

bool run_logs(struct run *r)
{
	struct batch b = batch_new();
	bool whole = false;

	/* Programs may write faster than we print. */
	for (int i = 0; i < BATCHES_AT_ONCE && !whole && !cli_output_unread(); i++) {
		struct str key;
		void *p;

		whole = true;
		for (size_t at = 0; map_next(&r->pods, &at, &key, &p);)
			whole = gather_logs(&b, p) && whole;
		print(r, &b);
	}
	batch_release(&b);
	return whole || cli_output_unread();
}

void run_pod_changed(struct run *r, struct str uid)
{
	struct run_pod *p = map_get(&r->pods, uid);
	struct buf folder = BUF_INIT(PATH_TEXT_MAX);

	if (!p || !p->n)
		return;
	embedded_pod_folder(r->em, p->uid, &folder);
	run_notes(r, folder.p, p->containers[0].prefix);
	buf_release(&folder);
	run_logs(r);
}

void run_pod_free(struct run *r, struct run_pod *p)
{
	struct batch b = batch_new();

	while (!gather_logs(&b, p))
		print(r, &b);
	print(r, &b);
	batch_release(&b);
	map_del(&r->pods, p->uid);
	run_hide(r);
	for (size_t i = 0; i < p->n; i++) {
		logline_end(&r->logs, p->containers[i].prefix);
		pod_tail_free(p->containers[i].tail);
	}
	arena_release(&p->arena);
	free(p);
}
