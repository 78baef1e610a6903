#include "client/replica.h"

#include "client/gather.h"

enum { NAMES_MAX = 512, SHOWN = 8 };

/* worker-0, and worker/0 as --kill has it. */
static bool read_name(struct str text, struct str *role, int64_t *index)
{
	size_t at = text.n;

	while (at > 0 && text.p[at - 1] >= '0' && text.p[at - 1] <= '9')
		at--;
	*role = str_sub(text, 0, at ? at - 1 : 0);
	return at > 1 && at < text.n && strchr("-/", text.p[at - 1]) && str_int(str_sub(text, at, text.n), index);
}

static bool runs(const struct pod *p)
{
	return p->role.n && p->phase == POD_RUNNING && !p->meta.deleted;
}

/* The one container that counts, as long as there is only one. */
static struct str main_container(const struct pod *p)
{
	struct str name = STR_NONE;
	size_t n = 0;

	for (size_t i = 0; i < p->n_containers; i++)
		if (!p->containers[i].init && !n++)
			name = p->containers[i].name;
	return n == 1 ? name : STR_NONE;
}

static void say_which(struct cli_session *s, const struct tree *t, const char *name)
{
	struct buf b = BUF_INIT(NAMES_MAX);
	size_t n = 0;

	for (size_t i = 0; i < t->n_pods; i++)
		if (runs(&t->pods[i]) && n++ < SHOWN)
			buf_printf(&b, "%s%.*s-%d", n > 1 ? ", " : "", STR_F(t->pods[i].role), t->pods[i].index);
	s->cli->status =
		cli_fail(s->cli, CLI_FAILED, "no replica %s runs; %s%.*s%s", name,
	                 n ? "there are: " : "none of the job does", STR_F(buf_str(&b)), n > SHOWN ? " …" : "");
	buf_release(&b);
}

static const struct pod *find(const struct tree *t, struct str role, int64_t index)
{
	const struct pod *best = NULL;

	for (size_t i = 0; i < t->n_pods; i++) {
		const struct pod *p = &t->pods[i];

		if (runs(p) && p->index == index && str_eq_nocase(p->role, role) &&
		    (!best || p->generation > best->generation))
			best = p;
	}
	return best;
}

bool replica_find(struct cli_session *s, const struct job_found *f, const char *name, struct replica_pod *ret)
{
	struct gathered d;
	const struct pod *p = NULL;
	struct str role;
	int64_t index;
	bool ok = false;

	if (!read_name(str_c(name), &role, &index)) {
		s->cli->status = cli_usage(s->cli, "'%s' is no replica: they are called worker-0, worker-1 …", name);
		return false;
	}
	if (gather_job(s, f, &d)) {
		struct arena *a = &s->remote.arena;

		p = find(&d.tree, role, index);
		if (p)
			*ret = (struct replica_pod){ arena_str(a, p->role), arena_str(a, p->meta.name), p->index,
				                     arena_str(a, main_container(p)) };
		else
			say_which(s, &d.tree, name);
		ok = p != NULL;
	}
	gathered_release(&d);
	return ok;
}
