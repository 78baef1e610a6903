/* dl-sim: the operator in a simulated cluster, seed after seed. */
#include "sim/mutant.h"
#include "sim/sim.h"
#include "sim/workers.h"

#include "base/log.h"
#include "sim/workers.h"

#include <getopt.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

static const char usage[] =
	"Usage: dl-sim [--seed N | --seeds N [--from N|random] | --soak] [--steps N] [--jobs N] [--keep-going]\n"
	"              [--trace] [--tap] [--mutant NAME] [--until INVARIANT]\n"
	"\n"
	"Runs the operator in a simulated cluster where everything goes wrong, and checks that what must\n"
	"hold does. The same seed gives the same run.\n"
	"\n"
	"  --seed N       one run with this seed\n"
	"  --seeds N      that many runs, from seed 1 (or --from) on; default: 100\n"
	"  --from N       the first seed; \"random\" takes one at random and prints it\n"
	"  --steps N      events of a run before the faults stop; default: 10000\n"
	"  --soak         ever new seeds until stopped, or until one fails\n"
	"  --jobs N       runs the seeds in N processes\n"
	"  --keep-going   continues after a seed that fails or kills its process, and ends with a table of them\n"
	"  --until NAME   goes on until a seed breaks this invariant, whatever others break; not with --jobs\n"
	"  --tap          reports as TAP, a line for each seed\n"
	"  --trace        prints every event; not with --jobs or --keep-going\n"
	"  --mutant NAME  plants a defect; \"list\" prints their names and what each must break\n"
	"\n"
	"A run of 50 seeds or more fails if there is a fault, a restart cause or an ending that it never tried.\n"
	"\n"
	"Example: dl-sim --seed 42 --trace | less\n"
	"Example: dl-sim --seeds 2000 --from random --jobs 2 --keep-going\n";

enum { TRACE_LINES = 40, RUN_MEMORY = 64 << 20, ENOUGH_SEEDS = 50, SOAK_REPORT = 100, REPORTS = 10 };

/* A seed that is easy to copy. */
static const uint64_t random_seeds = 1000000000000;

struct options {
	uint64_t from, seeds;
	size_t steps;
	unsigned jobs; /* 0: the seeds run in this process */
	bool random, keep_going, trace, tap, soak;
	int mutant;
	enum invariant until; /* NONE: any */
};

/* All seeds of one call. */
struct sim_run {
	const struct options *o;
	struct kinds *kinds;
	struct arena memory; /* of one seed */
	struct arena arena;
	struct sim_tally tally;
	uint64_t done;
	VEC(struct seed_result) broken;
	bool terminal; /* standard error is one: progress is shown there */
};

static volatile sig_atomic_t stopped;

static void on_interrupt(int signal)
{
	stopped = signal;
}

static bool parse_number(const char *text, int64_t *ret)
{
	return str_int(str_c(text), ret) && *ret >= 0;
}

static int find_mutant(const char *name)
{
	for (int m = 0; m < MUTANT_COUNT; m++)
		if (strcmp(mutant_name((enum sim_mutant)m), name) == 0)
			return m;
	return -1;
}

static enum invariant find_invariant(const char *name)
{
	for (int i = INV_NONE + 1; i < INV_COUNT_; i++)
		if (strcmp(invariant_name((enum invariant)i), name) == 0)
			return (enum invariant)i;
	return INV_NONE;
}

static void list_mutants(void)
{
	for (int m = 1; m < MUTANT_COUNT; m++)
		printf("%s %s\n", mutant_name((enum sim_mutant)m), invariant_name(mutant_breaks((enum sim_mutant)m)));
}

/* The last lines of a text. */
static struct str tail(struct str text, int lines)
{
	size_t at = text.n;

	while (at > 0 && (text.p[at - 1] != '\n' || at == text.n || lines-- > 1))
		at--;
	return str_sub(text, at, text.n);
}

/* Seconds of processor time, with those of other processes of ours: what else the machine does shall not change the
   rate. */
static double spent(void)
{
	static const __rusage_who_t whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	double sum = 0;

	for (size_t i = 0; i < ARRAY_LEN(whose); i++) {
		struct rusage u;

		getrusage(whose[i], &u);
		sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec);
		sum += (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	}
	return sum;
}

static struct sim_options sim_options(const struct options *o, uint64_t seed)
{
	return (struct sim_options){
		.seed = seed, .steps = o->steps, .trace = o->trace, .trace_to = stdout, .mutant = o->mutant
	};
}

/* How to see SEED again. */
static void print_repeat(const struct options *o, const char *seed)
{
	printf("again: dl-sim --seed %s --steps %zu%s%s --trace\n", seed, o->steps, o->mutant ? " --mutant " : "",
	       o->mutant ? mutant_name((enum sim_mutant)o->mutant) : "");
}

static void print_broken(const struct seed_result *r)
{
	if (r->broken)
		printf("seed %llu, step %zu: %s: %s\n", (unsigned long long)r->seed, r->step, invariant_name(r->broken),
		       r->why);
	else
		printf("seed %llu: %s\n", (unsigned long long)r->seed, r->why);
}

/* Runs it once more and shows how it came to that. */
static void explain(struct sim_run *r, const struct seed_result *broken)
{
	struct sim_options opt = sim_options(r->o, broken->seed);
	struct sim_tally tally = { 0 };
	char *text = NULL, seed[32];
	size_t n = 0;
	struct sim s;

	print_broken(broken);
	if (broken->broken) {
		opt.trace_to = open_memstream(&text, &n);
		opt.trace = true;
		sim_run(&s, r->kinds, &opt, &tally, &r->memory);
		sim_release(&s);
		fclose(opt.trace_to);
		printf("%.*s", STR_F(tail((struct str){ text, n }, TRACE_LINES)));
		free(text);
	}
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)broken->seed);
	print_repeat(r->o, seed);
}

static void run_seed(void *arg, struct seed_result *ret)
{
	struct sim_run *r = arg;
	struct sim_options opt = sim_options(r->o, ret->seed);
	struct sim s;

	ret->good = sim_run(&s, r->kinds, &opt, &ret->tally, &r->memory);
	ret->broken = s.broken;
	ret->step = s.step;
	snprintf(ret->why, sizeof(ret->why), "%s", s.why);
	sim_release(&s);
}

/* How far it is, in a line that the next one takes the place of; where nobody sits at a terminal, in a few lines. */
static void progress(const struct sim_run *r)
{
	const struct options *o = r->o;
	uint64_t each = o->soak ? SOAK_REPORT : (o->seeds + REPORTS - 1) / REPORTS;
	FILE *out = r->terminal ? stderr : stdout;

	if (o->seeds == 1 || o->trace)
		return;
	if (!r->terminal && (r->done % each || !(o->soak || o->keep_going)))
		return;
	fprintf(out, "%s%s%llu", r->terminal ? "\r" : "", o->tap ? "# " : "", (unsigned long long)r->done);
	if (!o->soak)
		fprintf(out, " of %llu", (unsigned long long)o->seeds);
	fprintf(out, " seeds, %llu steps, %zu broke%s", (unsigned long long)r->tally.steps, r->broken.n,
	        r->terminal ? "\033[K" : "\n");
}

static void clear_progress(const struct sim_run *r)
{
	if (r->terminal)
		fputs("\r\033[K", stderr);
}

static bool seed_done(void *arg, const struct seed_result *result)
{
	struct sim_run *r = arg;
	const struct options *o = r->o;

	r->done += result->tally.seeds;
	tally_add(&r->tally, &result->tally);
	if (o->tap || !result->good)
		clear_progress(r);
	if (o->tap && result->tally.seeds)
		printf("%sok %llu - seed %llu\n", result->good ? "" : "not ", (unsigned long long)r->done,
		       (unsigned long long)result->seed);
	if (!result->good && o->until && result->broken != o->until) {
		progress(r);
		return true;
	}
	if (!result->good) {
		*vec_push(&r->arena, &r->broken) = *result;
		if (o->keep_going)
			print_broken(result);
		else if (!o->trace)
			explain(r, result);
	}
	progress(r);
	return result->good || o->keep_going;
}

static int by_seed(const void *a, const void *b)
{
	const struct seed_result *x = a, *y = b;

	return (x->seed > y->seed) - (x->seed < y->seed);
}

static void print_table(struct sim_run *r)
{
	const char *mark = r->o->tap ? "# " : "";

	qsort(r->broken.v, r->broken.n, sizeof(*r->broken.v), by_seed);
	printf("%s%zu of %llu seeds broke:\n", mark, r->broken.n, (unsigned long long)r->done);
	printf("%s%-20s %7s  %-26s %s\n", mark, "SEED", "STEP", "INVARIANT", "MESSAGE");
	for (size_t i = 0; i < r->broken.n; i++) {
		const struct seed_result *b = &r->broken.v[i];
		char step[24] = "-";

		if (b->broken)
			snprintf(step, sizeof(step), "%zu", b->step);
		printf("%s%-20llu %7s  %-26s %s\n", mark, (unsigned long long)b->seed, step,
		       b->broken ? invariant_name(b->broken) : "-", b->why);
	}
	printf("%s", mark);
	print_repeat(r->o, "SEED");
}

static bool report(struct sim_run *r, double took)
{
	const struct options *o = r->o;
	const struct sim_tally *tally = &r->tally;
	const char *mark = o->tap ? "# " : "";
	bool enough = o->seeds >= ENOUGH_SEEDS && !o->mutant && r->done == o->seeds, all;

	printf("%s%llu seeds, %llu steps, %.1f s of one core, %.0f steps a second\n", mark, (unsigned long long)r->done,
	       (unsigned long long)tally->steps, took, took > 0 ? (double)tally->steps / took : 0);
	if (o->seeds == 1)
		return true;
	all = tally_print(tally, stdout, mark) || !enough;
	if (o->tap)
		printf("%sok %llu - everything was tried\n", all ? "" : "not ", (unsigned long long)r->done + 1);
	else if (!all)
		printf("something was never tried\n");
	return all;
}

/* One after the other, in this process. */
static void run_here(struct sim_run *r)
{
	bool more = true;

	for (uint64_t i = 0; more && i < r->o->seeds; i++) {
		struct seed_result result = { .seed = r->o->from + i };

		run_seed(r, &result);
		more = seed_done(r, &result);
	}
}

static bool run_workers(struct sim_run *r)
{
	const struct options *o = r->o;
	struct workers w = { .jobs = o->jobs,
		             .from = o->from,
		             .seeds = o->seeds,
		             .run = run_seed,
		             .done = seed_done,
		             .arg = r,
		             .stop = &stopped };
	struct sigaction act = { .sa_handler = on_interrupt };
	struct err e = ERR_INIT;
	bool ok;

	/* Whoever stops it wants to know what broke until then. */
	sigaction(SIGINT, &act, NULL);
	ok = workers_run(&w, &e);
	if (!ok)
		fprintf(stderr, "dl-sim: %s\n", err_msg(&e));
	err_release(&e);
	return ok;
}

static int run_seeds(struct kinds *kinds, const struct options *o)
{
	struct sim_run r = { .o = o, .kinds = kinds, .terminal = isatty(STDERR_FILENO) };
	bool good = true;

	/* One piece for all runs: an arena keeps its largest. */
	arena_raw(&r.memory, RUN_MEMORY);
	if (o->random)
		printf("%sfrom seed %llu\n", o->tap ? "# " : "", (unsigned long long)o->from);
	if (o->tap)
		printf("1..%llu\n", (unsigned long long)o->seeds + (o->seeds > 1));
	if (o->jobs)
		good = run_workers(&r);
	else
		run_here(&r);
	clear_progress(&r);
	if (good && (o->keep_going || !r.broken.n))
		good = report(&r, spent());
	if (o->keep_going && r.broken.n)
		print_table(&r);
	good = good && !r.broken.n;
	arena_release(&r.memory);
	arena_release(&r.arena);
	return stopped ? 130 : good ? 0 : 1;
}

enum {
	OPT_SEED = 1,
	OPT_SEEDS,
	OPT_FROM,
	OPT_STEPS,
	OPT_SOAK,
	OPT_TAP,
	OPT_TRACE,
	OPT_MUTANT,
	OPT_HELP,
	OPT_JOBS,
	OPT_KEEP_GOING,
	OPT_UNTIL
};

static const struct option long_options[] = {
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "seeds", required_argument, NULL, OPT_SEEDS },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "steps", required_argument, NULL, OPT_STEPS },
	{ "soak", no_argument, NULL, OPT_SOAK },
	{ "tap", no_argument, NULL, OPT_TAP },
	{ "trace", no_argument, NULL, OPT_TRACE },
	{ "mutant", required_argument, NULL, OPT_MUTANT },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "keep-going", no_argument, NULL, OPT_KEEP_GOING },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ 0 },
};

/* Somewhere else each time. */
static void start_anywhere(struct options *o)
{
	if (getrandom(&o->from, sizeof(o->from), 0) != sizeof(o->from))
		o->from = (uint64_t)clock_now(&clock_wall);
	o->from %= random_seeds;
	o->random = true;
}

/* An option that has a number; false: that is none, or not one that it may have. */
static bool take_number(struct options *o, int c, const char *arg)
{
	int64_t n = 0;

	if (!parse_number(arg, &n))
		return false;
	switch (c) {
	case OPT_SEED:
		o->from = (uint64_t)n;
		o->seeds = 1;
		return true;
	case OPT_SEEDS:
		o->seeds = (uint64_t)n;
		return true;
	case OPT_FROM:
		o->from = (uint64_t)n;
		return true;
	case OPT_STEPS:
		o->steps = (size_t)n;
		return true;
	case OPT_JOBS:
		o->jobs = (unsigned)n;
		return n > 0 && n <= WORKERS_MAX;
	default:
		return false;
	}
}

/* Takes one option; false: it is none. */
static bool take_option(struct options *o, int c, const char *arg)
{
	switch (c) {
	case OPT_FROM:
		if (strcmp(arg, "random") != 0)
			return take_number(o, c, arg);
		start_anywhere(o);
		return true;
	case OPT_SOAK:
		o->soak = true;
		o->seeds = UINT64_MAX / 2;
		start_anywhere(o);
		return true;
	case OPT_KEEP_GOING:
		o->keep_going = true;
		return true;
	case OPT_TAP:
		o->tap = true;
		return true;
	case OPT_TRACE:
		o->trace = true;
		return true;
	case OPT_MUTANT:
		o->mutant = find_mutant(arg);
		return o->mutant >= 0;
	case OPT_UNTIL:
		o->until = find_invariant(arg);
		return o->until != INV_NONE;
	default:
		return arg && take_number(o, c, arg);
	}
}

int main(int argc, char **argv)
{
	struct options o = { .from = 1, .seeds = 100, .steps = 10000 };
	struct kinds *kinds CLEANUP(kinds_freep) = NULL;
	struct err e = ERR_INIT;
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (c == OPT_HELP) {
			fputs(usage, stdout);
			return 0;
		}
		if (c == OPT_MUTANT && strcmp(optarg, "list") == 0) {
			list_mutants();
			return 0;
		}
		if (!take_option(&o, c, optarg)) {
			fputs(usage, stderr);
			return 2;
		}
	}
	/* A process of its own, since a seed may kill it. */
	if (o.keep_going && !o.jobs)
		o.jobs = 1;
	if (optind != argc || (o.jobs && (o.trace || o.until))) {
		fputs(usage, stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	log_setup(LOG_TEXT, LOG_ERROR, &clock_wall);
	kinds = kinds_new(&kind_limits_default);
	if (!kinds_load_builtin(kinds, &e)) {
		fprintf(stderr, "dl-sim: %s\n", err_msg(&e));
		err_release(&e);
		return 1;
	}
	return run_seeds(kinds, &o);
}
