#include "sim/tally.h"

static const char *const hit_names[] = {
#define X(name, text) text,
	TALLY_FAULTS(X)
#undef X
};

static const char *const script_names[] = { "anything", "all goes well", "one replica fails first", "chief fails for good" };

static bool row(FILE *out, const char *what, const char *name, uint64_t n)
{
	fprintf(out, "  %-10s %-34s %10llu%s\n", what, name, (unsigned long long)n, n ? "" : "   NEVER HIT");
	return n > 0;
}

bool tally_print(const struct tally *t, FILE *out)
{
	bool all = true;

	for (size_t i = 0; i < HIT_COUNT; i++)
		all &= row(out, "fault", hit_names[i], t->hits[i]);
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		all &= row(out, "restart", cause_name((enum cause)i), t->causes[i]);
	for (size_t i = PHASE_SUCCEEDED; i < PHASE_COUNT; i++)
		all &= row(out, "ending", phase_name((enum phase)i), t->endings[i]);
	for (size_t i = 0; i < ARRAY_LEN(script_names); i++)
		all &= row(out, "job", script_names[i], t->scripts[i]);
	fprintf(out, "  jobs %llu, pods %llu, writes %llu\n", (unsigned long long)t->jobs, (unsigned long long)t->pods,
		(unsigned long long)t->writes);
	return all;
}
