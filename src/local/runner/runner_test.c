/* Real pods from the store to their end. */
#include "local/runner/testing.h"

#include "base/file.h"
#include "base/log.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static bool ended(struct lab *l, const char *name)
{
	return lab_said(l, name, "status.phase", "Succeeded") || lab_said(l, name, "status.phase", "Failed");
}

static bool a_ended(struct lab *l)
{
	return ended(l, "a");
}

static bool b_has_ended(struct lab *l)
{
	return lab_said(l, "b", "status.phase", "Succeeded");
}

static bool late_has_ended(struct lab *l)
{
	return ended(l, "late");
}

static bool a_runs(struct lab *l)
{
	return lab_said(l, "a", "status.phase", "Running");
}

static bool a_is_gone(struct lab *l)
{
	return lab_get(l, "pods", "a", "metadata.name").n == 0 && runner_living(l->runner) == 0;
}

static bool ready(struct lab *l)
{
	return lab_exists(l, "ready");
}

static void to_its_end(struct lab *l)
{
	lab_pod(l, "a", "echo $HOSTNAME; pwd", "", "");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	CHECK(lab_said(l, "a", "spec.nodeName", "this"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.terminated.exitCode", "0"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.terminated.reason", "Completed"));
	CHECK(str_eqc(lab_log(l, "a"), "a\n/\n"));
	CHECK(lab_event(l, "a", "Scheduled") && lab_event(l, "a", "Pulled") && lab_event(l, "a", "Started"));
	CHECK(runner_living(l->runner) == 0 && l->changes > 0);
}

static void exit_code(struct lab *l)
{
	lab_pod(l, "a", "exit 3", "", "");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Failed"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.terminated.exitCode", "3"));
}

static void node(struct lab *l)
{
	struct str since = lab_get(l, "nodes", "this", "metadata.creationTimestamp");

	CHECK(str_eqc(lab_get(l, "nodes", "this", "status.capacity.cpu"), "4000m"));
	CHECK(str_eqc(lab_get(l, "nodes", "this", "status.allocatable.memory"), "8388608Ki"));
	CHECK(str_eqc(lab_get(l, "nodes", "this", "status.conditions.0.type"), "Ready"));
	CHECK(str_eqc(lab_get(l, "nodes", "this", "status.conditions.0.status"), "True"));
	CHECK(strstr(lab_get(l, "nodes", "this", "metadata.labels").p, "\"kubernetes.io/hostname\":\"this\""));
	lab_leave(l);
	l->config.machine.cpu = 2000;
	lab_start(l);
	CHECK(str_eqc(lab_get(l, "nodes", "this", "status.capacity.cpu"), "2000m"));
	CHECK(str_eq(lab_get(l, "nodes", "this", "metadata.creationTimestamp"), since));
}

/* By the name of the service, whichever of them is started first. */
static void talk(struct lab *l)
{
	char exe[512] = "";

	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	CHECK(lab_create(l, "services",
	                 "{\"metadata\":{\"name\":\"svc\"},\"spec\":{\"clusterIP\":\"None\",\"selector\":{\"app\":"
	                 "\"b\"}}}") == 201);
	lab_pod(l, "a", lab_fmt(l, "exec %s connect svc:7077", exe), "", "");
	lab_pod(l, "b", lab_fmt(l, "exec %s listen 7077", exe), "", "");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	CHECK(str_eqc(lab_log(l, "a"), "hello\n"));
}

/* As the root of a pod may, and only in that one. */
static void resolver_of_its_own(struct lab *l)
{
	struct str before = STR_NONE, after = STR_NONE;

	(void)file_read(&before, "/etc/resolv.conf", &l->arena, NULL);
	lab_pod(l, "a", "echo options attempts:7 >>/etc/resolv.conf; cat /etc/resolv.conf", "", "");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	CHECK(str_has_suffix(lab_log(l, "a"), STR("options attempts:7\n")));
	lab_pod(l, "b", "! grep attempts:7 /etc/resolv.conf", "", "");
	lab_until(l, b_has_ended);
	CHECK(lab_said(l, "b", "status.phase", "Succeeded"));
	(void)file_read(&after, "/etc/resolv.conf", &l->arena, NULL);
	CHECK(str_eq(before, after));
}

static bool ready_and_runs(struct lab *l)
{
	return access(lab_path(l, "ready"), F_OK) == 0 && a_runs(l);
}

/* It adds a line, and is told of who comes later nevertheless. */
static void hosts_of_its_own(struct lab *l)
{
	struct str before = STR_NONE, after = STR_NONE;

	(void)file_read(&before, "/etc/hosts", &l->arena, NULL);
	lab_pod(l, "a",
	        lab_fmt(l,
	                "echo 10.9.9.9 mine >>/etc/hosts; touch %s; until grep -qw late /etc/hosts; do sleep 0.02; "
	                "done;"
	                "grep -w mine /etc/hosts",
	                lab_path(l, "ready")),
	        "", "");
	lab_until(l, ready_and_runs);
	lab_pod(l, "late", lab_fmt(l, "%s; ! grep -w mine /etc/hosts", lab_wait_for(l, "over")), "", "");
	lab_until(l, a_ended);
	lab_touch(l, "over");
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	CHECK(str_eqc(lab_log(l, "a"), "10.9.9.9 mine\n"));
	lab_until(l, late_has_ended);
	CHECK(lab_said(l, "late", "status.phase", "Succeeded"));
	(void)file_read(&after, "/etc/hosts", &l->arena, NULL);
	CHECK(str_eq(before, after));
}

static bool lacks_config(struct lab *l)
{
	return lab_said(l, "a", "status.containerStatuses.0.state.waiting.reason", "CreateContainerConfigError");
}

static void config_comes_late(struct lab *l)
{
	lab_pod(l, "a", "echo $WORD; cat /etc/conf/WORD", ",\"envFrom\":[{\"configMapRef\":{\"name\":\"late\"}}]", "");
	lab_until(l, lacks_config);
	CHECK(lab_said(l, "a", "status.phase", "Pending"));
	CHECK(lab_event(l, "a", "Failed"));
	CHECK(lab_create(l, "configmaps", "{\"metadata\":{\"name\":\"late\"},\"data\":{\"WORD\":\"here\"}}") == 201);
	lab_until(l, a_ended);
	CHECK(str_eqc(str_sub(lab_log(l, "a"), 0, 5), "here\n"));
}

enum { LACKING = 17 };

static bool all_lack_config(struct lab *l)
{
	for (int i = 0; i < LACKING; i++)
		if (!lab_said(l, lab_fmt(l, "lacks-%d", i), "status.containerStatuses.0.state.waiting.reason",
		              "CreateContainerConfigError"))
			return false;
	return true;
}

/* More than a round takes, and a ConfigMap that is none of theirs: the others have their turn. */
static void config_of_somebody_else(struct lab *l)
{
	for (int i = 0; i < LACKING; i++)
		lab_pod(l, lab_fmt(l, "lacks-%d", i), "true", ",\"envFrom\":[{\"configMapRef\":{\"name\":\"never\"}}]",
		        "");
	lab_until(l, all_lack_config);
	CHECK(lab_create(l, "configmaps", "{\"metadata\":{\"name\":\"other\"}}") == 201);
	lab_pod(l, "a", "true", "", "");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
}

/* Nothing on this machine will give it a command: it does not wait for ever. */
static void refused(struct lab *l)
{
	CHECK(lab_create(l, "pods",
	                 "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"x\"}]"
	                 "}}") == 201);
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Failed"));
	CHECK(lab_said(l, "a", "status.reason", "CreateContainerConfigError"));
	CHECK(strstr(lab_get(l, "pods", "a", "status.message").p, "spec.containers[0]: command"));
}

static void volume_by_claim(struct lab *l)
{
	struct runner_tree tree = { STR("data"), l->folder };

	lab_leave(l);
	l->config.volumes = &tree;
	l->config.n_volumes = 1;
	lab_start(l);
	lab_pod(l, "a", "touch /mnt/v/ready", ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/mnt/v\"}]",
	        ",\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}}]");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	CHECK(lab_exists(l, "ready"));
}

static void delete_with_grace(struct lab *l)
{
	const char *folder;

	lab_pod(l, "a",
	        lab_fmt(l, "trap 'touch %s; exit 0' TERM; touch %s; while :; do sleep 0.02; done",
	                lab_path(l, "stopped"), lab_path(l, "ready")),
	        "", "");
	lab_until(l, a_runs);
	lab_until(l, ready);
	folder = lab_pod_folder(l, "a");
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":25}") == 200);
	CHECK(lab_get(l, "pods", "a", "metadata.name").n);
	lab_until(l, a_is_gone);
	CHECK(lab_exists(l, "stopped"));
	CHECK(lab_event(l, "a", "Killing"));
	CHECK(access(folder, F_OK) != 0);
}

static msec jump;

static msec jumping_now(void *cookie)
{
	(void)cookie;
	return clock_now(&clock_wall) + jump;
}

static const struct clock jumping = { .now = jumping_now };

static void use_jumping_clock(struct lab *l)
{
	lab_leave(l);
	jump = 0;
	l->config.clock = &jumping;
	lab_start(l);
}

/* The clock is set back by an hour: the grace period does not become an hour longer. */
static void clock_is_set_back(struct lab *l)
{
	use_jumping_clock(l);
	lab_pod(l, "a", lab_fmt(l, "trap '' TERM; touch %s; while :; do sleep 1; done", lab_path(l, "ready")), "", "");
	lab_until(l, ready);
	jump = -MINUTES(60);
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":1}") == 200);
	lab_until(l, a_is_gone);
	lab_pod(l, "b", "true", "", "");
	lab_until(l, b_has_ended);
}

static bool a_was_asked(struct lab *l)
{
	return lab_exists(l, "asked");
}

/* … or forward, while somebody tidies up: it does not become shorter either. */
static void clock_is_set_forward(struct lab *l)
{
	use_jumping_clock(l);
	lab_pod(l, "a",
	        lab_fmt(l, "trap 'touch %s; %s; touch %s; exit 0' TERM; touch %s; while :; do sleep 0.02; done",
	                lab_path(l, "asked"), lab_wait_for(l, "go"), lab_path(l, "stopped"), lab_path(l, "ready")),
	        "", "");
	lab_until(l, ready);
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":600}") == 200);
	lab_until(l, a_was_asked);
	jump = MINUTES(60);
	lab_pod(l, "b", "true", "", "");
	lab_until(l, b_has_ended);
	lab_touch(l, "go");
	lab_until(l, a_is_gone);
	CHECK(lab_exists(l, "stopped"));
}

/* It does not hear the first word; the grace is then made shorter. */
static void delete_by_force(struct lab *l)
{
	lab_pod(l, "a", lab_fmt(l, "trap '' TERM; touch %s; while :; do sleep 1; done", lab_path(l, "ready")), "",
	        ",\"terminationGracePeriodSeconds\":3600");
	lab_until(l, a_runs);
	lab_until(l, ready);
	CHECK(lab_delete(l, "pods", "a", NULL) == 200);
	lab_until(l, a_runs);
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":1}") == 200);
	lab_until(l, a_is_gone);
}

static void gone_at_once(struct lab *l)
{
	const char *folder;

	lab_pod(l, "a", "trap '' TERM; while :; do sleep 1; done", "", "");
	lab_until(l, a_runs);
	folder = lab_pod_folder(l, "a");
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":0}") == 200);
	lab_until(l, a_is_gone);
	lab_until(l, a_is_gone);
	CHECK(access(folder, F_OK) != 0);
}

static void killed_parent(struct lab *l)
{
	struct err e = ERR_INIT;
	enum pod_found found;
	pid_t pid;

	lab_pod(l, "a", "exec sleep 1000", "", "");
	lab_until(l, a_runs);
	CHECK(pod_find(lab_pod_folder(l, "a"), &found, &pid, &e) && found == POD_FOUND_ALIVE);
	kill(pid, SIGKILL);
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Failed"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.terminated.exitCode", "137"));
	CHECK(runner_living(l->runner) == 0);
}

static bool start_failed(struct lab *l)
{
	return lab_event(l, "a", "FailedCreatePodSandBox");
}

/* As with a full disk: it is said, and tried again. */
static void folder_cannot_be_made(struct lab *l)
{
	const char *folder;
	int fd;

	lab_pod(l, "a", "true", "", "");
	folder = lab_pod_folder(l, "a");
	fd = open(folder, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	close(fd);
	lab_until(l, start_failed);
	CHECK(lab_said(l, "a", "status.phase", "Pending"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.waiting.reason", "FailedCreatePodSandBox"));
	CHECK(str_has_prefix(lab_get(l, "pods", "a", "status.containerStatuses.0.state.waiting.message"),
	                     str_c(folder)));
	CHECK(unlink(folder) == 0);
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
}

/* Whatever a container leaves in its folder: it goes, and nothing else does. */
static void folder_is_hostile(struct lab *l)
{
	const char *folder;

	lab_touch(l, "kept");
	lab_pod(l, "a",
	        lab_fmt(l,
	                "cd /v; ln -s %s out; mkdir -p a/b/c; touch a/b/c/x; chmod 0 a/b; mkfifo f; ln -s / a/root;"
	                "touch %s; while :; do sleep 1; done",
	                l->folder, lab_path(l, "ready")),
	        ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]",
	        ",\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]");
	lab_until(l, a_runs);
	lab_until(l, ready);
	folder = lab_pod_folder(l, "a");
	CHECK(lab_delete(l, "pods", "a", "{\"gracePeriodSeconds\":1}") == 200);
	lab_until(l, a_is_gone);
	CHECK(access(folder, F_OK) != 0);
	CHECK(lab_exists(l, "kept") && access("/bin/sh", X_OK) == 0);
}

enum { FAT = 16 };

static bool fat_run(struct lab *l)
{
	for (int i = 0; i < FAT; i++)
		if (!lab_said(l, lab_fmt(l, "fat-%02d", i), "status.phase", "Running"))
			return false;
	return a_runs(l);
}

static bool fat_ended(struct lab *l)
{
	for (int i = 0; i < FAT; i++)
		if (!lab_said(l, lab_fmt(l, "fat-%02d", i), "status.phase", "Succeeded"))
			return false;
	return true;
}

static int fatten(struct lab *l, int pod, size_t n)
{
	struct buf text = BUF_INIT(2 * STORE_BODY_MAX);
	int code;

	buf_printf(&text, "{\"metadata\":{\"fat\":\"%0*d\"}}", (int)n, 0);
	buf_putc(&text, 0);
	code = lab_patch(l, "pods", lab_fmt(l, "fat-%02d", pod), false, buf_str(&text).p);
	buf_release(&text);
	return code;
}

/* Objects that have no room left for a word: what is to be written of them is refused, for ever, and takes long. */
static void fatten_all(struct lab *l)
{
	size_t fits = 0, too_much = STORE_BODY_MAX;

	while (too_much - fits > 32) {
		size_t n = fits + (too_much - fits) / 2;

		*(fatten(l, 0, n) == 200 ? &fits : &too_much) = n;
	}
	for (int i = 0; i < FAT; i++)
		CHECK(fatten(l, i, fits - 16) == 200);
}

/* Whose status the store does not take keep nobody from his turn, and the loop from no rest. */
static void status_cannot_be_written(struct lab *l)
{
	const char *script = lab_wait_for(l, "go");

	for (int i = 0; i < FAT; i++)
		lab_pod(l, lab_fmt(l, "fat-%02d", i), script, "", "");
	lab_pod(l, "a", script, "", "");
	lab_until(l, fat_run);
	fatten_all(l);
	lab_touch(l, "go");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	while (runner_step(l->runner) <= clock_now(&clock_wall))
		continue;
	CHECK(runner_living(l->runner) == 0);
	for (int i = 0; i < FAT; i++)
		CHECK(fatten(l, i, 1) == 200);
	lab_until(l, fat_ended);
}

static bool b_ended(struct lab *l)
{
	return ended(l, "b");
}

/* Where all share one network, the second of two that want one port is told so. */
static void port_is_taken(struct lab *l)
{
	lab_pod(l, "a", lab_wait_for(l, "go"), ",\"ports\":[{\"containerPort\":8080}]", "");
	lab_until(l, a_runs);
	lab_pod(l, "b", "true", ",\"ports\":[{\"containerPort\":8080}]", "");
	lab_until(l, b_ended);
	CHECK(lab_said(l, "b", "status.reason", "HostPortConflict"));
	lab_touch(l, "go");
	lab_until(l, a_ended);
	/* It is free again, though the pod's object is still there. */
	CHECK(lab_delete(l, "pods", "b", NULL) == 200);
	lab_pod(l, "b", "true", ",\"ports\":[{\"containerPort\":8080}]", "");
	lab_until(l, b_ended);
	CHECK(lab_said(l, "b", "status.phase", "Succeeded"));
}

static bool nothing_lives(struct lab *l)
{
	return runner_living(l->runner) == 0;
}

static void stop_all(struct lab *l)
{
	lab_pod(l, "a", lab_fmt(l, "trap '' TERM; touch %s; while :; do sleep 1; done", lab_path(l, "ready")), "",
	        ",\"terminationGracePeriodSeconds\":3600");
	lab_until(l, a_runs);
	lab_until(l, ready);
	runner_stop(l->runner, -1);
	lab_pod(l, "b", "true", "", "");
	lab_until(l, a_runs);
	CHECK(runner_living(l->runner) == 1);
	runner_stop(l->runner, 0);
	lab_until(l, nothing_lives);
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Failed"));
	/* Not its own doing. */
	CHECK(lab_said(l, "a", "status.reason", "NodeShutdown"));
	CHECK(lab_said(l, "b", "status.phase", "Pending"));
}

/* What somebody deleted ends for that, also while everything ends. */
static void stop_all_and_one_deleted(struct lab *l)
{
	lab_pod(l, "a", lab_fmt(l, "trap '' TERM; touch %s; while :; do sleep 1; done", lab_path(l, "ready")), "",
	        ",\"terminationGracePeriodSeconds\":3600");
	lab_until(l, ready);
	CHECK(lab_delete(l, "pods", "a", NULL) == 200);
	runner_stop(l->runner, 0);
	lab_until(l, nothing_lives);
	CHECK(!lab_event(l, "a", "NodeShutdown"));
}

static void on_the_machines_network(struct lab *l)
{
	char ours[64] = "";

	CHECK(readlink("/proc/self/ns/net", ours, sizeof(ours) - 1) > 0);
	lab_pod(l, "a", "readlink /proc/self/ns/net", "", ",\"hostNetwork\":true");
	lab_pod(l, "b", "readlink /proc/self/ns/net", "", "");
	lab_until(l, a_ended);
	lab_until(l, b_ended);
	CHECK(str_eqc(lab_log(l, "a"), lab_fmt(l, "%s\n", ours)));
	CHECK(lab_log(l, "b").n && !str_eq(lab_log(l, "a"), lab_log(l, "b")));
}

/* The kubelet's words for what a container does. */
static bool has_problems(struct lab *l)
{
	return lab_event(l, "a", "BackOff") && lab_event(l, "a", "Unhealthy");
}

static void says_what_happens(struct lab *l)
{
	l->config.backoff = SECONDS(3600);
	lab_leave(l);
	lab_start(l);
	CHECK(lab_create(
		      l, "pods",
		      "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"restartPolicy\":\"Always\",\"containers\":["
		      "{\"name\":\"fails\",\"image\":\"x\",\"command\":[\"false\"]},{\"name\":\"ill\",\"image\":\"x\","
		      "\"command\":[\"sleep\",\"1000\"],\"readinessProbe\":{\"exec\":{\"command\":[\"false\"]}}}]}}") ==
	      201);
	lab_until(l, has_problems);
	CHECK(lab_said(l, "a", "status.containerStatuses.0.state.waiting.reason", "CrashLoopBackOff"));
	CHECK(lab_said(l, "a", "status.containerStatuses.0.restartCount", "1"));
}

static void says_what_has_no_effect(struct lab *l)
{
	lab_pod(l, "a", "true", ",\"securityContext\":{\"readOnlyRootFilesystem\":true}",
	        ",\"securityContext\":{\"fsGroup\":5}");
	lab_until(l, a_ended);
	CHECK(lab_said(l, "a", "status.phase", "Succeeded"));
	CHECK(lab_events(l, "a", "Limited", "readOnlyRootFilesystem, fsGroup") == 1);
}

/* More than a round takes. */
enum { MANY = 40 };

static bool all_ended(struct lab *l)
{
	for (int i = 0; i < MANY; i++)
		if (!lab_said(l, lab_fmt(l, "p%d", i), "status.phase", "Succeeded"))
			return false;
	return true;
}

static bool all_gone(struct lab *l)
{
	for (int i = 0; i < MANY; i++)
		if (lab_get(l, "pods", lab_fmt(l, "p%d", i), "metadata.name").n)
			return false;
	return rmdir(lab_path(l, "pods")) == 0;
}

static void many(struct lab *l)
{
	for (int i = 0; i < MANY; i++)
		lab_pod(l, lab_fmt(l, "p%d", i), "true", "", "");
	lab_until(l, all_ended);
	for (int i = 0; i < MANY; i++)
		CHECK(lab_delete(l, "pods", lab_fmt(l, "p%d", i), NULL) == 200);
	lab_until(l, all_gone);
}

#define SCENARIO(name, kind)                                                                                           \
	static void test_##name##_##kind(void **state)                                                                 \
	{                                                                                                              \
		(void)state;                                                                                           \
		lab_run(name, kind);                                                                                   \
	}
SCENARIO(to_its_end, NET_ROOT)
SCENARIO(to_its_end, NET_USER)
SCENARIO(to_its_end, NET_HOST)
SCENARIO(exit_code, NET_HOST)
/* The object is as large as one may be: the status finds no place in it. */
static void status_is_refused(struct lab *l)
{
	struct store_answer a;
	CLEANUP(buf_release) struct buf b = BUF_INIT(STORE_BODY_MAX);
	char *text = NULL;
	size_t n = 0;
	FILE *log = open_memstream(&text, &n);

	buf_printf(&b, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"none\","
	               "\"resources\":{\"requests\":{\"cpu\":\"100000\"}},\"command\":[\"true\",\"");
	while (b.n < STORE_BODY_MAX - 300)
		buf_printf(&b, "x");
	buf_printf(&b, "\"]}]}}");
	store_call(l->store,
	           &(struct store_request){ .verb = STORE_CREATE,
	                                    .type = store_type(l->store, STR(""), STR("v1"), STR("pods")),
	                                    .ns = STR("default"),
	                                    .body = buf_str(&b) },
	           &a);
	CHECK(a.code == 201);
	store_answer_release(&a);
	log_to(log);
	runner_step(l->runner);
	log_to(NULL);
	fclose(log);
	CHECK(strstr(text, "its status cannot be written: Request entity too large: limit is 3145728"));
	free(text);
}

SCENARIO(node, NET_HOST)
SCENARIO(talk, NET_ROOT)
SCENARIO(talk, NET_USER)
SCENARIO(hosts_of_its_own, NET_ROOT)
SCENARIO(hosts_of_its_own, NET_USER)
SCENARIO(resolver_of_its_own, NET_ROOT)
SCENARIO(resolver_of_its_own, NET_USER)
SCENARIO(config_comes_late, NET_HOST)
SCENARIO(config_of_somebody_else, NET_HOST)
SCENARIO(refused, NET_HOST)
SCENARIO(volume_by_claim, NET_ROOT)
SCENARIO(delete_with_grace, NET_ROOT)
SCENARIO(delete_with_grace, NET_USER)
SCENARIO(delete_by_force, NET_HOST)
SCENARIO(gone_at_once, NET_HOST)
SCENARIO(killed_parent, NET_ROOT)
SCENARIO(killed_parent, NET_HOST)
SCENARIO(folder_cannot_be_made, NET_HOST)
SCENARIO(status_is_refused, NET_HOST)
SCENARIO(status_cannot_be_written, NET_HOST)
SCENARIO(folder_is_hostile, NET_ROOT)
SCENARIO(folder_is_hostile, NET_USER)
SCENARIO(port_is_taken, NET_HOST)
SCENARIO(stop_all, NET_HOST)
SCENARIO(clock_is_set_back, NET_HOST)
SCENARIO(clock_is_set_forward, NET_HOST)
SCENARIO(stop_all_and_one_deleted, NET_HOST)
SCENARIO(on_the_machines_network, NET_ROOT)
SCENARIO(says_what_happens, NET_HOST)
SCENARIO(says_what_has_no_effect, NET_HOST)
SCENARIO(many, NET_ROOT)
SCENARIO(many, NET_USER)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_its_end_NET_ROOT),
		cmocka_unit_test(test_to_its_end_NET_USER),
		cmocka_unit_test(test_to_its_end_NET_HOST),
		cmocka_unit_test(test_exit_code_NET_HOST),
		cmocka_unit_test(test_node_NET_HOST),
		cmocka_unit_test(test_talk_NET_ROOT),
		cmocka_unit_test(test_talk_NET_USER),
		cmocka_unit_test(test_hosts_of_its_own_NET_ROOT),
		cmocka_unit_test(test_hosts_of_its_own_NET_USER),
		cmocka_unit_test(test_resolver_of_its_own_NET_ROOT),
		cmocka_unit_test(test_resolver_of_its_own_NET_USER),
		cmocka_unit_test(test_config_comes_late_NET_HOST),
		cmocka_unit_test(test_config_of_somebody_else_NET_HOST),
		cmocka_unit_test(test_refused_NET_HOST),
		cmocka_unit_test(test_volume_by_claim_NET_ROOT),
		cmocka_unit_test(test_delete_with_grace_NET_ROOT),
		cmocka_unit_test(test_delete_with_grace_NET_USER),
		cmocka_unit_test(test_delete_by_force_NET_HOST),
		cmocka_unit_test(test_gone_at_once_NET_HOST),
		cmocka_unit_test(test_killed_parent_NET_ROOT),
		cmocka_unit_test(test_killed_parent_NET_HOST),
		cmocka_unit_test(test_folder_cannot_be_made_NET_HOST),
		cmocka_unit_test(test_status_is_refused_NET_HOST),
		cmocka_unit_test(test_status_cannot_be_written_NET_HOST),
		cmocka_unit_test(test_folder_is_hostile_NET_ROOT),
		cmocka_unit_test(test_folder_is_hostile_NET_USER),
		cmocka_unit_test(test_port_is_taken_NET_HOST),
		cmocka_unit_test(test_stop_all_NET_HOST),
		cmocka_unit_test(test_clock_is_set_back_NET_HOST),
		cmocka_unit_test(test_clock_is_set_forward_NET_HOST),
		cmocka_unit_test(test_stop_all_and_one_deleted_NET_HOST),
		cmocka_unit_test(test_on_the_machines_network_NET_ROOT),
		cmocka_unit_test(test_says_what_happens_NET_HOST),
		cmocka_unit_test(test_says_what_has_no_effect_NET_HOST),
		cmocka_unit_test(test_many_NET_ROOT),
		cmocka_unit_test(test_many_NET_USER),
	};
	int status;

	if (lab_is_program(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
