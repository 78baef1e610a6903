/* TensorBoard on this machine: on its loopback, on a port that is told, if it is installed. */
#include "local/runner/testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "object/labels.h"

/* Says how it was called, and stays. */
static void install(struct lab *l)
{
	const char *program = lab_path(l, "bin/tensorboard");
	FILE *f;

	CHECK(mkdir(lab_path(l, "bin"), 0755) == 0);
	f = fopen(lab_path(l, "bin/new"), "w");
	CHECK(f);
	fprintf(f, "#!/bin/sh\necho \"$*\"\necho \"$HOME\"\nreadlink /proc/self/ns/net\nexec sleep 1000\n");
	CHECK(fclose(f) == 0 && chmod(lab_path(l, "bin/new"), 0755) == 0);
	CHECK(rename(lab_path(l, "bin/new"), program) == 0);
}

/* With a PATH of its own. */
static void begin(struct lab *l)
{
	static const char *env[3];

	env[0] = lab_fmt(l, "PATH=%s:/usr/bin:/bin", lab_path(l, "bin"));
	env[1] = "HOME=/home/somebody";
	l->config.env = env;
	lab_leave(l);
	lab_start(l);
}

static void board(struct lab *l, const char *name)
{
	CHECK(lab_create(l, "pods",
	                 "{\"metadata\":{\"name\":\"%s\",\"annotations\":{\"" LABEL_DOMAIN "tensorboard"
	                 "\":\"/logs\"}},\"spec\":{"
	                 "\"restartPolicy\":\"Never\",\"securityContext\":{\"runAsNonRoot\":true,\"runAsUser\":65532,"
	                 "\"runAsGroup\":65532},\"volumes\":[{\"name\":\"tensorboard-tmp\",\"emptyDir\":{}}],"
	                 "\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"command\":[\"tensorboard\",\"--logdir\","
	                 "\"/logs\",\"--host\",\"0.0.0.0\",\"--port\",\"6006\"],\"ports\":[{\"containerPort\":6006}],"
	                 "\"env\":[{\"name\":\"HOME\",\"value\":\"/tmp\"}],\"volumeMounts\":[{\"name\":"
	                 "\"tensorboard-tmp\",\"mountPath\":\"/tmp\"}]}]}}",
	                 name) == 201);
}

static bool has_address(struct lab *l, const char *name, const char *wanted)
{
	yyjson_doc *doc = json_parse(lab_get(l, "pods", name, "metadata.annotations"), NULL);
	bool same = str_eqc(json_str(json_get(yyjson_doc_get_root(doc), ANNOTATION_ADDRESS)), wanted);

	yyjson_doc_free(doc);
	return same;
}

static bool both_said(struct lab *l)
{
	return str_has_suffix(lab_log(l, "a"), STR("]\n")) && str_has_suffix(lab_log(l, "b"), STR("]\n"));
}

static bool both_run(struct lab *l)
{
	return lab_said(l, "a", "status.phase", "Running") && lab_said(l, "b", "status.phase", "Running");
}

static bool c_has_the_next(struct lab *l)
{
	return has_address(l, "c", "http://127.0.0.1:6008/");
}

/* Two at once have two ports, on the network of the machine, whatever the pods' one is. */
static void two(struct lab *l)
{
	char ours[64] = "";

	CHECK(readlink("/proc/self/ns/net", ours, sizeof(ours) - 1) > 0);
	install(l);
	begin(l);
	board(l, "a");
	board(l, "b");
	lab_until(l, both_said);
	CHECK(str_eqc(lab_log(l, "a"),
	              lab_fmt(l, "--logdir /logs --host 127.0.0.1 --port 6006\n/home/somebody\n%s\n", ours)));
	CHECK(str_eqc(lab_log(l, "b"),
	              lab_fmt(l, "--logdir /logs --host 127.0.0.1 --port 6007\n/home/somebody\n%s\n", ours)));
	CHECK(has_address(l, "a", "http://127.0.0.1:6006/"));
	CHECK(has_address(l, "b", "http://127.0.0.1:6007/"));
	/* Whoever comes after us knows who has which. */
	lab_leave(l);
	lab_start(l);
	board(l, "c");
	lab_until(l, c_has_the_next);
	lab_until(l, both_run);
}

static bool waits(struct lab *l)
{
	return lab_said(l, "a", "status.containerStatuses.0.state.waiting.reason", "NotInstalled");
}

static bool runs(struct lab *l)
{
	return lab_said(l, "a", "status.phase", "Running");
}

static bool other_ended(struct lab *l)
{
	return lab_said(l, "other", "status.phase", "Succeeded");
}

/* Its pod waits, says what to do, and begins once that is done. */
static void not_installed(struct lab *l)
{
	begin(l);
	board(l, "a");
	lab_pod(l, "other", "true", "", "");
	lab_until(l, waits);
	lab_until(l, other_ended);
	CHECK(lab_said(l, "a", "status.phase", "Pending"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.waiting.message",
	               "tensorboard is not installed on this machine; pip install tensorboard"));
	CHECK(lab_event(l, "a", "Failed"));
	install(l);
	lab_until(l, runs);
}

#define SCENARIO(name, kind)                                                                                           \
	static void test_##name##_##kind(void **state)                                                                 \
	{                                                                                                              \
		(void)state;                                                                                           \
		lab_run(name, kind);                                                                                   \
	}

SCENARIO(two, NET_ROOT)
SCENARIO(two, NET_USER)
SCENARIO(two, NET_HOST)
SCENARIO(not_installed, NET_ROOT)
SCENARIO(not_installed, NET_HOST)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_NET_ROOT),           cmocka_unit_test(test_two_NET_USER),
		cmocka_unit_test(test_two_NET_HOST),           cmocka_unit_test(test_not_installed_NET_ROOT),
		cmocka_unit_test(test_not_installed_NET_HOST),
	};
	int status;

	if (lab_is_program(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
