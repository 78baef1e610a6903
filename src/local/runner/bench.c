/* How long short pods take:  ninja -C build runner-bench && build/src/local/runner/runner-bench [N [root|user|host]] */
#include "local/runner/testing.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int pods = 500;

static bool all_ended(struct lab *l)
{
	struct store_answer a;
	size_t n = 0;

	/* Not while they run: asking is not what is measured. */
	if (runner_living(l->runner))
		return false;
	store_call(l->store,
	           &(struct store_request){ .verb = STORE_LIST,
	                                    .type = store_type(l->store, STR(""), STR("v1"), STR("pods")),
	                                    .field_selector = STR("status.phase=Succeeded") },
	           &a);
	for (const char *at = a.body.p; (at = strstr(at, "\"phase\":\"Succeeded\"")); at++)
		n++;
	store_answer_release(&a);
	return (int)n == pods;
}

static void many(struct lab *l)
{
	struct rusage self, children;
	msec now, made, began = clock_now(&clock_wall);

	for (int i = 0; i < pods; i++)
		CHECK(lab_create(
			      l, "pods",
			      "{\"metadata\":{\"name\":\"pod-%d\",\"labels\":{\"app\":\"x\"}},\"spec\":{"
			      "\"restartPolicy\":\"Never\","
			      "\"containers\":[{\"name\":\"main\",\"image\":\"none\",\"command\":[\"/bin/true\"]}]}}",
			      i) == 201);
	made = clock_now(&clock_wall);
	lab_until(l, all_ended);
	now = clock_now(&clock_wall);
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("%d pods: %lld ms (and %lld to create them); CPU of the runner %ld+%ld ms, of the pods %ld+%ld ms\n",
	       pods, (long long)(now - made), (long long)(made - began),
	       self.ru_utime.tv_sec * 1000 + self.ru_utime.tv_usec / 1000,
	       self.ru_stime.tv_sec * 1000 + self.ru_stime.tv_usec / 1000,
	       children.ru_utime.tv_sec * 1000 + children.ru_utime.tv_usec / 1000,
	       children.ru_stime.tv_sec * 1000 + children.ru_stime.tv_usec / 1000);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	enum net_kind kind = NET_ROOT;
	int status;

	if (lab_is_program(argc, argv, &status))
		return status;
	if (argc > 1)
		pods = (int)strtol(argv[1], NULL, 10);
	if (argc > 2)
		kind = argv[2][0] == 'h' ? NET_HOST : argv[2][0] == 'u' ? NET_USER : NET_ROOT;
	lab_run(many, kind);
	return 0;
}
