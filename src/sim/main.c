/* dl-sim: the operator in a simulated cluster, seed after seed. */
#include "sim/sim.h"

#include "base/log.h"

#include <getopt.h>

static const char usage[] =
	"Usage: dl-sim [--seed N | --seeds N [--from N]] [--steps N] [--trace] [--mutant NAME] [--for SECONDS]\n"
	"\n"
	"Runs the operator in a simulated cluster where everything goes wrong, and checks that what must\n"
	"hold does. The same seed gives the same run.\n"
	"\n"
	"  --seed N       one run with this seed\n"
	"  --seeds N      that many runs, from seed 1 (or --from) on; 100 unless told\n"
	"  --steps N      events of a run before the faults stop; 10000 unless told\n"
	"  --for SECONDS  as many runs as fit; 0: until stopped\n"
	"  --trace        prints every event\n"
	"  --mutant NAME  plants a defect; \"list\" prints their names and what each must break\n"
	"\n"
	"Example: dl-sim --seed 42 --trace | less\n";

enum { TRACE_LINES = 40 };

struct options {
	uint64_t from, seeds;
	size_t steps;
	bool trace, one, timed;
	int64_t seconds;
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

static double wall(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Runs it once more and shows how it came to that. */
static void explain(struct kinds *kinds, const struct sim_options *opt, const struct sim *broken)
{
	struct tally tally = { 0 };
	struct sim_options again = *opt;
	char *text = NULL;
	size_t n = 0;
	struct sim s;

	again.trace_to = open_memstream(&text, &n);
	again.trace = true;
	sim_run(&s, kinds, &again, &tally);
	sim_release(&s);
	fclose(again.trace_to);
	printf("seed %llu, step %zu: %s: %s\n", (unsigned long long)opt->seed, broken->step,
	       invariant_name(broken->broken), broken->why);
	printf("%.*s", STR_F(tail((struct str){ text, n }, TRACE_LINES)));
	printf("again: dl-sim --seed %llu --steps %zu%s%s --trace\n", (unsigned long long)opt->seed, opt->steps,
	       opt->mutant ? " --mutant " : "", opt->mutant ? mutant_name((enum mutant)opt->mutant) : "");
	free(text);
}

static bool one_seed(struct kinds *kinds, const struct options *o, uint64_t seed, struct tally *tally)
{
	struct sim_options opt = { .seed = seed, .steps = o->steps, .trace = o->trace, .trace_to = stdout, .mutant = o->mutant };
	struct sim s;
	bool good = sim_run(&s, kinds, &opt, tally);

	if (!good && !o->trace)
		explain(kinds, &opt, &s);
	sim_release(&s);
	return good;
}

static int run(struct kinds *kinds, const struct options *o)
{
	struct tally tally = { 0 };
	double began = wall(), took;
	uint64_t done = 0;

	for (; o->timed ? !o->seconds || wall() - began < (double)o->seconds : done < o->seeds; done++) {
		if (!one_seed(kinds, o, o->from + done, &tally))
			return 1;
		if (o->timed && done % 100 == 99)
			printf("%llu seeds, %llu steps\n", (unsigned long long)done + 1, (unsigned long long)tally.steps);
	}
	took = wall() - began;
	printf("%llu seeds, %llu steps, %.1f s, %.0f steps a second\n", (unsigned long long)tally.seeds,
	       (unsigned long long)tally.steps, took, took > 0 ? (double)tally.steps / took : 0);
	if (o->one || o->mutant)
		return 0;
	if (!tally_print(&tally, stdout)) {
		printf("something was never tried\n");
		return 1;
	}
	return 0;
}

enum { OPT_SEED = 1, OPT_SEEDS, OPT_FROM, OPT_STEPS, OPT_FOR, OPT_TRACE, OPT_MUTANT, OPT_HELP };

static const struct option long_options[] = {
	{ "seed", required_argument, NULL, OPT_SEED },   { "seeds", required_argument, NULL, OPT_SEEDS },
	{ "from", required_argument, NULL, OPT_FROM },   { "steps", required_argument, NULL, OPT_STEPS },
	{ "for", required_argument, NULL, OPT_FOR },     { "trace", no_argument, NULL, OPT_TRACE },
	{ "mutant", required_argument, NULL, OPT_MUTANT }, { "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static int bad_usage(void)
{
	fputs(usage, stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct options o = { .from = 1, .seeds = 100, .steps = 10000 };
	struct kinds *kinds CLEANUP(kinds_freep) = NULL;
	struct err e = ERR_INIT;
	int64_t n = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (c != OPT_TRACE && c != OPT_MUTANT && c != OPT_HELP && (c == '?' || !number(optarg, &n)))
			return bad_usage();
		switch (c) {
		case OPT_SEED:
			o.from = (uint64_t)n;
			o.seeds = 1;
			o.one = true;
			break;
		case OPT_SEEDS:
			o.seeds = (uint64_t)n;
			break;
		case OPT_FROM:
			o.from = (uint64_t)n;
			break;
		case OPT_STEPS:
			o.steps = (size_t)n;
			break;
		case OPT_FOR:
			o.timed = true;
			o.seconds = n;
			break;
		case OPT_TRACE:
			o.trace = true;
			break;
		case OPT_MUTANT:
			if (strcmp(optarg, "list") == 0) {
				list_mutants();
				return 0;
			}
			o.mutant = find_mutant(optarg);
			if (o.mutant < 0)
				return bad_usage();
			break;
		case OPT_HELP:
			fputs(usage, stdout);
			return 0;
		default:
			return bad_usage();
		}
	}
	if (optind != argc)
		return bad_usage();
	setvbuf(stdout, NULL, _IOLBF, 0);
	kinds = kinds_new(&kind_limits_default);
	if (!kinds_load_builtin(kinds, &e)) {
		fprintf(stderr, "dl-sim: %s\n", err_msg(&e));
		err_release(&e);
		return 1;
	}
	return run(kinds, &o);
}
