#include "sim/tally.h"

static const char *const hit_names[] = {
#define X(name, text) text,
	TALLY_FAULTS(X)
#undef X
};

static const char *const script_names[] = { "anything", "all succeed", "one replica fails first",
	                                    "chief fails for good" };

static bool row(FILE *out, const char *mark, const char *what, const char *name, uint64_t n)
{
	fprintf(out, "%s  %-10s %-34s %10llu%s\n", mark, what, name, (unsigned long long)n, n ? "" : "   NEVER HIT");
	return n > 0;
}

void tally_add(struct sim_tally *to, const struct sim_tally *t)
{
	to->steps += t->steps;
	to->seeds += t->seeds;
	to->jobs += t->jobs;
	to->pods += t->pods;
	to->writes += t->writes;
	for (size_t i = 0; i < HIT_COUNT; i++)
		to->hits[i] += t->hits[i];
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		to->causes[i] += t->causes[i];
	for (size_t i = 0; i < PHASE_COUNT; i++)
		to->endings[i] += t->endings[i];
	for (size_t i = 0; i < ARRAY_LEN(to->scripts); i++)
		to->scripts[i] += t->scripts[i];
}

bool tally_print(const struct sim_tally *t, FILE *out, const char *mark)
{
	bool all = true;

	for (size_t i = 0; i < HIT_COUNT; i++)
		all &= row(out, mark, "fault", hit_names[i], t->hits[i]);
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		all &= row(out, mark, "restart", cause_name((enum cause)i), t->causes[i]);
	for (size_t i = PHASE_SUCCEEDED; i < PHASE_OTHER; i++)
		all &= row(out, mark, "ending", phase_name((enum phase)i), t->endings[i]);
	for (size_t i = 0; i < ARRAY_LEN(script_names); i++)
		all &= row(out, mark, "job", script_names[i], t->scripts[i]);
	fprintf(out, "%s  jobs %llu, pods %llu, writes %llu\n", mark, (unsigned long long)t->jobs,
	        (unsigned long long)t->pods, (unsigned long long)t->writes);
	return all;
}
