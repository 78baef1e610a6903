/* Logs of pods that are gone: which are kept, for how long, and what hostile names can do. */
#include "local/runner/testing.h"

#include "local/pod/tail.h"
#include "object/labels.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void define(struct lab *l)
{
	const struct kind *k = kinds_find(l->kinds, STR("mlkube.io/v1beta1"), STR("TfJob"));
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	struct buf b = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	struct store_answer a;

	json_write(kind_crd(l->kinds, k, doc, &e), &b);
	store_call(l->store,
	           &(struct store_request){ .verb = STORE_CREATE,
	                                    .type = store_type(l->store, STR("apiextensions.k8s.io"), STR("v1"),
	                                                       STR("customresourcedefinitions")),
	                                    .body = buf_str(&b) },
	           &a);
	CHECK(a.code == 201);
	store_answer_release(&a);
	buf_release(&b);
	yyjson_mut_doc_free(doc);
}

static const char *job(struct lab *l, const char *name)
{
	CHECK(lab_create(l, "tfjobs",
	                 "{\"apiVersion\":\"mlkube.io/v1beta1\",\"kind\":\"TfJob\",\"metadata\":{\"name\":\"%s\"},"
	                 "\"spec\":{\"replicaSpecs\":[{\"tfReplicaType\":\"MASTER\",\"template\":{\"spec\":{"
	                 "\"containers\":[{\"name\":\"tensorflow\",\"image\":\"x\"}]}}}]}}",
	                 name) == 201);
	return lab_fmt(l, "%.*s", STR_F(lab_get(l, "tfjobs", name, "metadata.uid")));
}

static bool a_ended(struct lab *l)
{
	return lab_said(l, "a", "status.phase", "Succeeded") || lab_said(l, "a", "status.phase", "Failed");
}

static bool a_is_gone(struct lab *l)
{
	return lab_get(l, "pods", "a", "metadata.name").n == 0 && runner_living(l->runner) == 0;
}

/* A pod `a` with the label of a job says TEXT and has ended. */
static void end_a(struct lab *l, const char *uid, const char *text)
{
	CHECK(lab_create(l, "pods",
	                 "{\"metadata\":{\"name\":\"a\",\"labels\":{\"" LABEL_UID "\":\"%s\"}},\"spec\":{"
	                 "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\",\"image\":\"x\",\"command\":["
	                 "\"/bin/sh\",\"-c\",\"echo %s\"]}]}}",
	                 uid, text) == 201);
	lab_until(l, a_ended);
}

static void run_a(struct lab *l, const char *uid, const char *text)
{
	end_a(l, uid, text);
	CHECK(lab_delete(l, "pods", "a", NULL) == 200);
	lab_until(l, a_is_gone);
}

/* What is kept of the pods `a`; NULL: nothing. */
static const char *kept(struct lab *l, int before)
{
	struct buf folder = BUF_INIT(4096);
	const char *ret = NULL;

	if (runner_kept_logs(l->folder, STR("default"), STR("a"), before, &folder)) {
		struct pod_tail *t = pod_tail_new(folder.p, STR("main"), 0);
		struct pod_tail_line line;

		CHECK(pod_tail_next(t, &line));
		ret = lab_fmt(l, "%.*s", STR_F(line.text));
		CHECK(!pod_tail_next(t, &line));
		pod_tail_free(t);
	}
	buf_release(&folder);
	return ret;
}

static bool kept_is(struct lab *l, int before, const char *text)
{
	const char *is = kept(l, before);

	return text ? is && !strcmp(is, text) : !is;
}

static size_t count_in(struct lab *l, const char *name)
{
	DIR *dir = opendir(lab_path(l, name));
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

static void the_last_two(struct lab *l)
{
	const char *uid, *place;

	define(l);
	uid = job(l, "j");
	place = lab_fmt(l, "logs/%s/default/a", uid);
	CHECK(!kept(l, 0));
	run_a(l, uid, "one");
	CHECK(kept_is(l, 0, "one") && kept_is(l, 1, NULL));
	run_a(l, uid, "two");
	CHECK(kept_is(l, 0, "two") && kept_is(l, 1, "one") && kept_is(l, 2, NULL));
	run_a(l, uid, "three");
	CHECK(kept_is(l, 0, "three") && kept_is(l, 1, "two") && kept_is(l, 2, NULL));
	CHECK(count_in(l, place) == 2);
	CHECK(lab_exists(l, lab_fmt(l, "%s/2/logs/main/0.log", place)));
	CHECK(count_in(l, "pods") == 0);
	/* Another namespace's pod is another. */
	CHECK(!runner_kept_logs(l->folder, STR("other"), STR("a"), 0, &(struct buf)BUF_INIT(4096)));
}

static bool nothing_kept(struct lab *l)
{
	return count_in(l, "logs") == 0;
}

static void until_the_job_is_gone(struct lab *l)
{
	const char *uid;

	define(l);
	uid = job(l, "j");
	run_a(l, uid, "one");
	CHECK(kept_is(l, 0, "one"));
	/* It outlives the runner … */
	lab_leave(l);
	lab_start(l);
	run_a(l, uid, "two");
	CHECK(kept_is(l, 1, "one"));
	CHECK(lab_delete(l, "tfjobs", "j", NULL) == 200);
	lab_until(l, nothing_kept);
	/* … and with a job that was deleted while nobody was there it goes, like all that is nobody's. */
	run_a(l, job(l, "j"), "one");
	CHECK(kept_is(l, 0, "one"));
	lab_leave(l);
	CHECK(lab_delete(l, "tfjobs", "j", NULL) == 200);
	CHECK(mkdir(lab_path(l, "logs/nobody"), 0700) == 0);
	lab_touch(l, "logs/file");
	CHECK(symlink("/", lab_path(l, "logs/link")) == 0);
	lab_start(l);
	lab_until(l, nothing_kept);
	CHECK(access("/bin/sh", X_OK) == 0);
}

static void the_newest_job(struct lab *l)
{
	const char *j, *k;

	define(l);
	j = job(l, "j");
	k = job(l, "k");
	run_a(l, j, "one");
	run_a(l, k, "two");
	CHECK(kept_is(l, 0, "two") && kept_is(l, 1, NULL));
	run_a(l, j, "three");
	CHECK(kept_is(l, 0, "three") && kept_is(l, 1, "one"));
}

static void of_no_job(struct lab *l)
{
	define(l);
	lab_pod(l, "a", "echo one", "", "");
	lab_until(l, a_ended);
	CHECK(lab_delete(l, "pods", "a", NULL) == 200);
	lab_until(l, a_is_gone);
	run_a(l, "f9c8-1", "one");
	CHECK(nothing_kept(l) && count_in(l, "pods") == 0);
}

/* The pod's object goes at once, and the runner has been killed: nothing knows the pod but its folder. */
static bool no_folders(struct lab *l)
{
	return count_in(l, "pods") == 0;
}

static void of_a_stranger(struct lab *l)
{
	define(l);
	end_a(l, job(l, "j"), "one");
	lab_leave(l);
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":0}") == 200);
	lab_start(l);
	lab_until(l, no_folders);
	CHECK(kept_is(l, 0, "one"));
}

/* Killed before, or just after, the logs were moved. */
static void killed_in_between(struct lab *l)
{
	const char *uid, *place, *folder;

	define(l);
	uid = job(l, "j");
	place = lab_fmt(l, "logs/%s/default/a", uid);
	run_a(l, uid, "one");
	end_a(l, uid, "two");
	lab_leave(l);
	CHECK(mkdir(lab_path(l, lab_fmt(l, "%s/1", place)), 0700) == 0);
	CHECK(lab_delete(l, "pods", "a", NULL) == 200);
	CHECK(kept_is(l, 0, "one"));
	lab_start(l);
	lab_until(l, a_is_gone);
	CHECK(kept_is(l, 0, "two") && kept_is(l, 1, "one") && count_in(l, place) == 2);

	end_a(l, uid, "three");
	lab_leave(l);
	folder = lab_pod_folder(l, "a");
	CHECK(mkdir(lab_path(l, lab_fmt(l, "%s/2", place)), 0700) == 0);
	CHECK(rename(lab_fmt(l, "%s/logs", folder), lab_path(l, lab_fmt(l, "%s/2/logs", place))) == 0);
	CHECK(lab_delete(l, "pods", "a", NULL) == 200);
	lab_start(l);
	lab_until(l, a_is_gone);
	CHECK(kept_is(l, 0, "three") && kept_is(l, 1, "two") && access(folder, F_OK) != 0);
	run_a(l, uid, "four");
	CHECK(kept_is(l, 0, "four") && kept_is(l, 1, "three") && count_in(l, place) == 2);
}

#define ELSEWHERE "where-a-hostile-pod-wants-its-logs"

/* Whoever can write into a pod's folder cannot lead its logs elsewhere. */
static void hostile_place(struct lab *l)
{
	/* Before and after the job's UID. */
	static const char *const places[][2] = {
		{ "", "/../../" ELSEWHERE }, { "", "/default/.." }, { "", "/default/a/b" },  { "", "/default" },
		{ "../", "/x/y" },           { "/", "/default/a" }, { "", "/default/a\tb" }, { "", "//a" },
	};
	const char *uid, *folder;

	define(l);
	uid = job(l, "j");
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const char *text = lab_fmt(l, "%s%s%s", places[i][0], uid, places[i][1]);

		end_a(l, uid, "one");
		folder = lab_pod_folder(l, "a");
		CHECK(unlink(lab_fmt(l, "%s/job", folder)) == 0);
		CHECK(symlink(text, lab_fmt(l, "%s/job", folder)) == 0);
		CHECK(lab_delete(l, "pods", "a", NULL) == 200);
		lab_until(l, a_is_gone);
		CHECK(count_in(l, "logs") == 0 && count_in(l, "pods") == 0);
		CHECK(!lab_exists(l, ELSEWHERE) && !lab_exists(l, "../" ELSEWHERE));
	}
	CHECK(!runner_kept_logs(l->folder, STR("."), STR("a"), 0, &(struct buf)BUF_INIT(4096)));
	CHECK(!runner_kept_logs(l->folder, STR("default"), STR("../a"), 0, &(struct buf)BUF_INIT(4096)));
}

static void not_if_tied(struct lab *l)
{
	lab_leave(l);
	l->config.tied = true;
	lab_start(l);
	define(l);
	run_a(l, job(l, "j"), "one");
	CHECK(nothing_kept(l) && count_in(l, "pods") == 0);
}

#define SCENARIO(name)                                                                                                 \
	static void test_##name(void **state)                                                                          \
	{                                                                                                              \
		(void)state;                                                                                           \
		lab_run(name, NET_HOST);                                                                               \
	}
SCENARIO(the_last_two)
SCENARIO(until_the_job_is_gone)
SCENARIO(the_newest_job)
SCENARIO(of_no_job)
SCENARIO(of_a_stranger)
SCENARIO(killed_in_between)
SCENARIO(hostile_place)
SCENARIO(not_if_tied)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_two),   cmocka_unit_test(test_until_the_job_is_gone),
		cmocka_unit_test(test_the_newest_job), cmocka_unit_test(test_of_no_job),
		cmocka_unit_test(test_of_a_stranger),  cmocka_unit_test(test_killed_in_between),
		cmocka_unit_test(test_hostile_place),  cmocka_unit_test(test_not_if_tied),
	};
	int status;

	if (lab_is_program(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
