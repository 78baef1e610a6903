#include "logs/archive_show.h"

#include "client/jobs.h"
#include "logs/archive_path.h"
#include "logs/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PIECE = 32 << 10,
	LEVEL_NS = 1,
	LEVEL_KIND,
	LEVEL_JOB,
	LEVEL_RUN,
	LEVEL_REPLICA,
	LEVEL_FILE,
};

/* A log. */
struct kept {
	struct merge_source *merge;
	struct str path, ns, kind, run, role, replica, container;
	int32_t index;
	int64_t generation;
	struct timespec changed;
	off_t at;
	bool ended;
};

struct show {
	struct cli *cli;
	const struct logs_options *o;
	const char *ns;
	const bool *kinds_wanted;
	const struct kinds *kinds;
	struct str job;
	struct str at[LEVEL_FILE]; /* names of the folders that it is in */
	VEC(struct kept) logs;
	struct log_merge merge;
	struct logline_printer printer;
	enum exit_code status;
	struct arena arena;
};

/* --- which files --- */

static bool is_kind(const struct show *s, struct str id)
{
	const struct kind *k = kinds_by_id(s->kinds, id);

	/* Of a kind that is not known here any more, by any name. */
	for (size_t i = 0; k && i < kinds_count(s->kinds); i++)
		if (kinds_at(s->kinds, i) == k)
			return s->kinds_wanted[i];
	return true;
}

/* Is there something for us in this folder? */
static bool enter(struct show *s, int level, struct str name)
{
	struct str role;
	int32_t index;

	if (level >= LEVEL_FILE || !archive_part(name))
		return false;
	s->at[level] = arena_str(&s->arena, name);
	switch (level) {
	case LEVEL_NS:
		return !s->ns || str_eqc(name, s->ns);
	case LEVEL_KIND:
		return is_kind(s, name);
	case LEVEL_JOB:
		return str_eq(name, s->job);
	case LEVEL_REPLICA:
		return archive_replica_read(name, &role, &index) &&
		       (!s->o->role || str_eq_nocase(role, str_c(s->o->role))) &&
		       (s->o->index < 0 || index == s->o->index);
	default:
		return true;
	}
}

static void take_log(struct show *s, struct str path, struct str name, const struct stat *st)
{
	struct kept k = { .ns = s->at[LEVEL_NS],
		          .kind = s->at[LEVEL_KIND],
		          .run = s->at[LEVEL_RUN],
		          .replica = s->at[LEVEL_REPLICA],
		          .changed = st->st_mtim };
	struct str container;

	if (!archive_file_read(name, &k.generation, &container) ||
	    (s->o->container && strcmp(s->o->container, "*") != 0 && !str_eqc(container, s->o->container)))
		return;
	archive_replica_read(k.replica, &k.role, &k.index);
	k.container = arena_str(&s->arena, container);
	k.path = arena_str(&s->arena, path);
	*vec_push(&s->arena, &s->logs) = k;
}

static int by_entry_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool find_logs(struct show *s, const char *dir)
{
	char *const roots[] = { (char *)(uintptr_t)dir, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_entry_name);
	FTSENT *at;

	while (fts && (at = fts_read(fts))) {
		struct str name = { at->fts_name, at->fts_namelen };

		if (at->fts_info == FTS_D && at->fts_level > 0 && !enter(s, at->fts_level, name))
			fts_set(fts, at, FTS_SKIP);
		else if (at->fts_info == FTS_F && at->fts_level == LEVEL_FILE)
			take_log(s, (struct str){ at->fts_path, at->fts_pathlen }, name, at->fts_statp);
		else if (at->fts_level == 0 && (at->fts_info == FTS_NS || at->fts_info == FTS_DNR))
			s->status = cli_fail(s->cli, CLI_FAILED, "%s: %s", dir, strerror(at->fts_errno));
	}
	if (fts)
		fts_close(fts);
	return s->status == CLI_OK;
}

static bool is_later(const struct kept *a, const struct kept *b)
{
	if (a->changed.tv_sec != b->changed.tv_sec)
		return a->changed.tv_sec > b->changed.tv_sec;
	return a->changed.tv_nsec > b->changed.tv_nsec;
}

/* Only the last job of the name; several of different kinds or namespaces must be told apart. */
static bool choose(struct show *s)
{
	const struct kept *last = NULL;
	struct str run;
	size_t n = 0;

	for (size_t i = 0; i < s->logs.n; i++) {
		const struct kept *k = &s->logs.v[i];

		if (last && (!str_eq(k->ns, last->ns) || !str_eq(k->kind, last->kind))) {
			s->status = cli_fail(s->cli, CLI_FAILED,
			                     "there are several jobs of that name: %.*s in namespace %.*s and %.*s in "
			                     "namespace %.*s; choose with KIND/NAME and -n",
			                     STR_F(last->kind), STR_F(last->ns), STR_F(k->kind), STR_F(k->ns));
			return false;
		}
		if (!last || is_later(k, last))
			last = k;
	}
	ASSERT(s->logs.v || !s->logs.n);
	run = last ? last->run : STR_NONE;
	for (size_t i = 0; i < s->logs.n; i++)
		if (str_eq(s->logs.v[i].run, run))
			s->logs.v[n++] = s->logs.v[i];
	s->logs.n = n;
	if (!n)
		s->status = cli_fail(s->cli, CLI_FAILED, "the archive has no matching log");
	return n > 0;
}

/* --- what is in them --- */

/* The next piece of it. */
static void refill(struct show *s, struct kept *k)
{
	char piece[PIECE];
	int fd = open(k->path.p, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : pread(fd, piece, sizeof(piece), k->at);

	if (n > 0) {
		k->at += n;
		merge_push(k->merge, (struct str){ piece, (size_t)n }, 0);
	} else {
		if (n < 0)
			s->status = cli_fail(s->cli, CLI_FAILED, "%s: %s", k->path.p, strerror(errno));
		k->ended = true;
		merge_end(k->merge, 0);
	}
	if (fd >= 0)
		close(fd);
}

/* Where the last N lines begin. */
static off_t tail_at(const char *path, int32_t n)
{
	char piece[PIECE];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END), at = size, found = n ? 0 : size;
	int64_t lines = 0;

	while (n && at > 0 && !found) {
		size_t want = (size_t)MIN(at, (off_t)sizeof(piece));
		ssize_t got;

		at -= (off_t)want;
		got = pread(fd, piece, want, at);
		for (ssize_t i = got; i > 0 && !found; i--)
			if (piece[i - 1] == '\n' && at + i < size && ++lines == n)
				found = at + i;
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static void prepare_logs(struct show *s)
{
	msec since = s->o->since ? clock_now(&clock_wall) - s->o->since * 1000 : 0;

	for (size_t i = 0; i < s->logs.n; i++) {
		struct kept *k = &s->logs.v[i];
		bool several = false;

		for (size_t j = 0; j < s->logs.n; j++)
			several = several || !str_eq(s->logs.v[j].container, k->container);
		if (several)
			k->replica = arena_printf(&s->arena, "%.*s/%.*s", STR_F(k->replica), STR_F(k->container));
		k->merge = merge_add(&s->merge, k);
		if (since > 0)
			k->merge->left_out.time = since * 1000000;
		if (s->o->tail >= 0)
			k->at = tail_at(k->path.p, s->o->tail);
		logline_expect(&s->printer, k->replica);
	}
}

/* As much as merge wants to see. */
static void feed(struct show *s, struct kept *k)
{
	while (!k->ended && merge_held(k->merge) < MERGE_LOW)
		refill(s, k);
}

static void print(struct show *s)
{
	struct merge_line line;
	msec wake;

	for (size_t i = 0; i < s->logs.n; i++)
		feed(s, &s->logs.v[i]);
	while (!cli_output_broken() && merge_next(&s->merge, 0, &line, &wake)) {
		struct kept *k = line.source->cookie;

		logline_print(&s->printer, &(struct logline){ .replica = k->replica,
		                                              .time = line.time,
		                                              .part = line.part,
		                                              .text = line.text,
		                                              .role = k->role,
		                                              .container = k->container,
		                                              .index = k->index,
		                                              .archived = true,
		                                              .generation = k->generation });
		feed(s, k);
	}
}

enum exit_code archive_show(struct cli *cli, const struct kinds *kinds, const char *dir, const char *ns,
                            const char *name, const struct logs_options *o)
{
	struct show s = { .cli = cli, .o = o, .ns = ns, .kinds = kinds, .merge = { .grace = NEVER } };
	struct job_name wanted;

	if (!job_name_read(cli, kinds, name, &wanted))
		return cli->status;
	s.kinds_wanted = wanted.kinds;
	s.job = wanted.name;
	s.printer = logline_printer(stdout, o->print);
	if (find_logs(&s, dir) && choose(&s)) {
		prepare_logs(&s);
		print(&s);
		logline_end(&s.printer, STR_NONE);
		logline_break(&s.printer);
	}
	merge_release(&s.merge);
	logline_release(&s.printer);
	arena_release(&s.arena);
	return s.status;
}
