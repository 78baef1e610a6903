/* make bench: speed, beside its targets. bench DLJOB */
#include "bench.h"

static bool missed;

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void bench_result(const char *what, double measured, enum better better, double target, const char *unit)
{
	bool ok = better == MORE_IS_BETTER ? measured >= target : measured <= target;

	missed = missed || !ok;
	printf("%-44s %12.1f %-8s %s %10.0f  %s\n", what, measured, unit, better == MORE_IS_BETTER ? "≥" : "≤", target,
	       ok ? "well" : "MISSED");
	fflush(stdout);
}

void bench_broken(const char *what, const char *why)
{
	missed = true;
	printf("%-44s %s\n", what, why);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: bench DLJOB\n");
		return 2;
	}
	printf("%-44s %12s %-8s %s %10s\n", "", "measured", "", " ", "target");
	bench_plan();
	bench_kind();
	bench_kube();
	bench_render(argv[1]);
	return missed;
}
