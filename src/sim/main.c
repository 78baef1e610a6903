/* dl-sim: the operator in a simulated cluster, seed after seed. */
#include "sim/sim.h"

#include "base/log.h"

#include <getopt.h>

static const char usage[] =
	"Usage: dl-sim [--seed N | --seeds N [--from N] | --soak] [--steps N] [--trace] [--tap] [--mutant NAME]\n"
	"\n"
	"Runs the operator in a simulated cluster where everything goes wrong, and checks that what must\n"
	"hold does. The same seed gives the same run.\n"
	"\n"
	"  --seed N       one run with this seed\n"
	"  --seeds N      that many runs, from seed 1 (or --from) on; 100 unless told\n"
	"  --steps N      events of a run before the faults stop; 10000 unless told\n"
	"  --soak         ever new seeds until stopped, or until one fails\n"
	"  --tap          reports as TAP, a line for each seed\n"
	"  --trace        prints every event\n"
	"  --mutant NAME  plants a defect; \"list\" prints their names and what each must break\n"
	"\n"
	"A run of 50 seeds or more fails if there is a fault, a restart cause or an ending that it never tried.\n"
	"\n"
	"Example: dl-sim --seed 42 --trace | less\n";

enum { TRACE_LINES = 40, RUN_MEMORY = 64 << 20, ENOUGH_SEEDS = 50, SOAK_REPORT = 100 };

struct options {
	uint64_t from, seeds;
	size_t steps;
	bool trace, tap, soak;
	int mutant;
};

static bool number(const char *text, int64_t *ret)
{
	return str_int(str_c(text), ret) && *ret >= 0;
}

static int find_mutant(const char *name)
{
	for (int m = 0; m < MUTANT_COUNT; m++)
		if (strcmp(mutant_name((enum mutant)m), name) == 0)
			return m;
	return -1;
}

static void list_mutants(void)
{
	for (int m = 1; m < MUTANT_COUNT; m++)
		printf("%s %s\n", mutant_name((enum mutant)m), invariant_name(mutant_breaks((enum mutant)m)));
}

/* The last lines of a text. */
static struct str tail(struct str text, int lines)
{
	size_t at = text.n;

	while (at > 0 && (text.p[at - 1] != '\n' || at == text.n || lines-- > 1))
		at--;
	return str_sub(text, at, text.n);
}

/* Seconds of processor time: what else the machine does shall not change the rate. */
static double spent(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Runs it once more and shows how it came to that. */
static void explain(struct kinds *kinds, const struct sim_options *opt, const struct sim *broken)
{
	struct tally tally = { 0 };
	struct sim_options again = *opt;
	struct arena memory = ARENA_INIT;
	char *text = NULL;
	size_t n = 0;
	struct sim s;

	again.trace_to = open_memstream(&text, &n);
	again.trace = true;
	sim_run(&s, kinds, &again, &tally, &memory);
	sim_release(&s);
	arena_release(&memory);
	fclose(again.trace_to);
	printf("seed %llu, step %zu: %s: %s\n", (unsigned long long)opt->seed, broken->step,
	       invariant_name(broken->broken), broken->why);
	printf("%.*s", STR_F(tail((struct str){ text, n }, TRACE_LINES)));
	printf("again: dl-sim --seed %llu --steps %zu%s%s --trace\n", (unsigned long long)opt->seed, opt->steps,
	       opt->mutant ? " --mutant " : "", opt->mutant ? mutant_name((enum mutant)opt->mutant) : "");
	free(text);
}

static bool one_seed(struct kinds *kinds, const struct options *o, uint64_t seed, struct tally *tally,
                     struct arena *memory)
{
	struct sim_options opt = {
		.seed = seed, .steps = o->steps, .trace = o->trace, .trace_to = stdout, .mutant = o->mutant
	};
	struct sim s;
	bool good = sim_run(&s, kinds, &opt, tally, memory);

	if (o->tap)
		printf("%sok %llu - seed %llu\n", good ? "" : "not ", (unsigned long long)tally->seeds,
		       (unsigned long long)seed);
	if (!good && !o->trace)
		explain(kinds, &opt, &s);
	sim_release(&s);
	return good;
}

static bool report(const struct options *o, const struct tally *tally, double took)
{
	const char *mark = o->tap ? "# " : "";
	bool enough = o->seeds >= ENOUGH_SEEDS && !o->mutant, all;

	printf("%s%llu seeds, %llu steps, %.1f s of one core, %.0f steps a second\n", mark,
	       (unsigned long long)tally->seeds, (unsigned long long)tally->steps, took,
	       took > 0 ? (double)tally->steps / took : 0);
	if (o->seeds == 1)
		return true;
	all = tally_print(tally, stdout, mark) || !enough;
	if (o->tap)
		printf("%sok %llu - everything was tried\n", all ? "" : "not ", (unsigned long long)tally->seeds + 1);
	else if (!all)
		printf("something was never tried\n");
	return all;
}

static int run(struct kinds *kinds, const struct options *o)
{
	struct tally tally = { 0 };
	double began = spent();
	struct arena memory = ARENA_INIT;
	uint64_t done = 0;
	bool good = true;

	/* One piece for all runs: an arena keeps its largest. */
	arena_raw(&memory, RUN_MEMORY);
	if (o->tap)
		printf("1..%llu\n", (unsigned long long)o->seeds + (o->seeds > 1));
	for (; good && (o->soak || done < o->seeds); done++) {
		good = one_seed(kinds, o, o->from + done, &tally, &memory);
		if (o->soak && done % SOAK_REPORT == SOAK_REPORT - 1)
			printf("%llu seeds, %llu steps\n", (unsigned long long)done + 1,
			       (unsigned long long)tally.steps);
	}
	arena_release(&memory);
	if (good)
		good = report(o, &tally, spent() - began);
	return good ? 0 : 1;
}

enum { OPT_SEED = 1, OPT_SEEDS, OPT_FROM, OPT_STEPS, OPT_SOAK, OPT_TAP, OPT_TRACE, OPT_MUTANT, OPT_HELP };

static const struct option long_options[] = {
	{ "seed", required_argument, NULL, OPT_SEED }, { "seeds", required_argument, NULL, OPT_SEEDS },
	{ "from", required_argument, NULL, OPT_FROM }, { "steps", required_argument, NULL, OPT_STEPS },
	{ "soak", no_argument, NULL, OPT_SOAK },       { "tap", no_argument, NULL, OPT_TAP },
	{ "trace", no_argument, NULL, OPT_TRACE },     { "mutant", required_argument, NULL, OPT_MUTANT },
	{ "help", no_argument, NULL, OPT_HELP },       { 0 },
};

/* Takes one option; false: it is none. */
static bool take(struct options *o, int c, const char *arg)
{
	int64_t n = 0;

	if ((c == OPT_SEED || c == OPT_SEEDS || c == OPT_FROM || c == OPT_STEPS) && !number(arg, &n))
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
	case OPT_SOAK:
		/* Somewhere else each time. */
		o->soak = true;
		o->from = (uint64_t)clock_now(&clock_wall);
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
	default:
		return false;
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
		if (!take(&o, c, optarg)) {
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind != argc) {
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
	return run(kinds, &o);
}
