#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "local/net/holder.h"
#include "local/net/idmap.h"
#include "local/net/internal.h"
#include "local/net/ns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each scenario runs in a process of its own, in a network namespace that stands for the machine: nothing of the real
   one is touched, and whatever goes wrong goes away with it. */
enum { SKIPPED = 77, PORT = 2222, WAIT_MS = 60000 };

#define CHECK(cond)                                                                                                    \
	do {                                                                                                           \
		if (!(cond)) {                                                                                         \
			fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #cond, err_msg(&problem));             \
			_exit(1);                                                                                      \
		}                                                                                                      \
	} while (0)

static struct err problem = ERR_INIT;
#define ID STR("test cluster")

typedef void (*scenario)(const char *folder);

static _Noreturn void machine(scenario run)
{
	char folder[] = "/tmp/dl-net-XXXXXX";
	uid_t uid = geteuid();
	gid_t gid = getegid();
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };

	/* Nothing may hang. */
	alarm(300);
	if (unshare(CLONE_NEWNET) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
			fprintf(stderr, "skipped: no network namespace: %s\n", strerror(errno));
			_exit(SKIPPED);
		}
		CHECK(idmap_single(true, uid, gid));
	}
	CHECK(nl_open(&nl, NETLINK_ROUTE, &problem));
	link_up(&m, LINK_LO);
	link_veth(&m, &(struct link_end){ "wan", 9, NULL, -1 }, &(struct link_end){ "beyond", 0, NULL, -1 }, 1400);
	if (!nl_talk(&nl, &m, NULL, &problem)) {
		fprintf(stderr, "skipped: no pairs of links: %s\n", err_msg(&problem));
		_exit(SKIPPED);
	}
	nl_close(&nl);
	CHECK(mkdtemp(folder));
	run(folder);
	CHECK(rmdir(folder) == 0);
	_exit(0);
}

static void scenario_test(scenario run)
{
	static const int deadly[] = { SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGSYS, SIGABRT };
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* cmocka's own handlers would go on with the next test, in the child. */
		for (size_t i = 0; i < ARRAY_LEN(deadly); i++)
			(void)signal(deadly[i], SIG_DFL);
		machine(run);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- connections ---- */

struct endpoint {
	const char *ip;
	int fd;
};

static bool listen_here(void *cookie, struct err *e)
{
	struct endpoint *p = cookie;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->fd < 0 || bind(p->fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(p->fd, 8) < 0)
		return err_set(e, ERR_IO, "listen: %s", strerror(errno));
	return true;
}

static bool connect_here(void *cookie, struct err *e)
{
	struct endpoint *p = cookie;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct pollfd w = { .events = POLLOUT };
	int code = ETIMEDOUT;
	socklen_t len = sizeof(code);

	inet_pton(AF_INET, p->ip, &a.sin_addr);
	p->fd = w.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (connect(p->fd, (struct sockaddr *)&a, sizeof(a)) < 0 && errno != EINPROGRESS)
		return err_set(e, ERR_IO, "connect to %s: %s", p->ip, strerror(errno));
	if (poll(&w, 1, WAIT_MS) == 1)
		getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &code, &len);
	return code == 0 || err_set(e, ERR_IO, "connect to %s: %s", p->ip, strerror(code));
}

static int listener(int ns)
{
	struct endpoint p = { NULL, -1 };

	CHECK(ns < 0 ? listen_here(&p, &problem) : ns_inside(ns, listen_here, &p, &problem));
	return p.fd;
}

/* From the namespace FROM (-1: the machine) to the LISTENER at IP; who it says it is must be SEEN_AS. */
static void expect_connection(int from, const char *ip, int to, const char *seen_as)
{
	struct endpoint p = { ip, -1 };
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);
	char text[INET_ADDRSTRLEN];
	int fd;

	CHECK(from < 0 ? connect_here(&p, &problem) : ns_inside(from, connect_here, &p, &problem));
	fd = accept(to, (struct sockaddr *)&peer, &len);
	CHECK(fd >= 0);
	inet_ntop(AF_INET, &peer.sin_addr, text, sizeof(text));
	CHECK(strcmp(text, seen_as) == 0);
	close(fd);
	close(p.fd);
}

static void expect_nothing_left(const char *folder)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct nl nl = NL_INIT;
	struct link_seen seen;
	char name[LINK_NAME_MAX];

	net_name(name, ID);
	CHECK(nl_open(&nl, NETLINK_ROUTE, &problem));
	CHECK(link_find(&nl, name, &seen, &problem));
	CHECK(seen.index == 0);
	nl_close(&nl);
	CHECK(access(arena_printf(&a, "%s/net", folder).p, F_OK) < 0);
}

static void expect_ended(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	CHECK(fd < 0 || net_program_wait(fd, WAIT_MS));
	if (fd >= 0)
		close(fd);
}

/* ---- scenarios ---- */

/* Two pods listen on one port and reach each other; then everything goes. */
static void two_pods(const char *folder, enum net_kind at_best, enum net_kind kind)
{
	struct net_world w;
	struct net *n;
	struct net_pod a, b;
	struct str uid, ns, name;
	char ip[NET_IP_TEXT];
	uid_t before = geteuid();
	size_t at = 0, pods = 0;
	int at_a, at_b;

	CHECK(net_enter(&w, folder, at_best, NET_OUTLIVES_US, &problem));
	if (kind == NET_USER && w.kind == NET_HOST) {
		fprintf(stderr, "skipped: %s\n", w.note);
		CHECK(net_clean(folder, ID, &problem));
		_exit(rmdir(folder) == 0 ? SKIPPED : 1);
	}
	CHECK(w.kind == kind && w.holder > 0 && !w.adopted);
	CHECK(geteuid() == before);
	CHECK(net_open(&n, &w, folder, ID, &problem));
	CHECK(net_pod_add(n, STR("default"), STR("a"), STR("uid-a"), &a, &problem));
	CHECK(net_pod_add(n, STR("default"), STR("b"), STR("uid-b"), &b, &problem));
	CHECK(strcmp(a.ip, b.ip) != 0);
	CHECK(net_pod_ip(n, STR("uid-b"), ip) && strcmp(ip, b.ip) == 0);
	while (net_pod_next(n, &at, &uid, &ns, &name))
		pods++;
	CHECK(pods == 2);
	at_a = listener(a.ns);
	at_b = listener(b.ns);
	expect_connection(a.ns, b.ip, at_b, a.ip);
	expect_connection(b.ns, a.ip, at_a, b.ip);
	expect_connection(a.ns, a.ip, at_a, a.ip);
	expect_connection(a.ns, "127.0.0.1", at_a, "127.0.0.1");
	if (kind == NET_ROOT)
		expect_connection(-1, a.ip, at_a, "10.201.0.2");
	/* A pod that is made again has its address, and the link is a new one. */
	close(a.ns);
	close(at_a);
	CHECK(net_pod_add(n, STR("default"), STR("a"), STR("uid-a"), &a, &problem));
	CHECK(net_pod_ip(n, STR("uid-a"), ip) && strcmp(ip, a.ip) == 0);
	at_a = listener(a.ns);
	expect_connection(b.ns, a.ip, at_a, b.ip);
	CHECK(net_pod_remove(n, STR("uid-a"), &problem));
	CHECK(net_pod_remove(n, STR("uid-a"), &problem));
	CHECK(!net_pod_ip(n, STR("uid-a"), ip));
	net_close(n);
	CHECK(net_clean(folder, ID, &problem));
	CHECK(net_clean(folder, ID, &problem));
	expect_nothing_left(folder);
	expect_ended(w.holder);
}

static void as_root(const char *folder)
{
	two_pods(folder, NET_ROOT, NET_ROOT);
}

static void as_user(const char *folder)
{
	two_pods(folder, NET_USER, NET_USER);
}

/* Whoever runs the tests as root is somebody without rights here. Programs keep what we have inside of the user
   namespace; what a container runs does not. */
static void as_somebody(const char *folder)
{
	enum { NOBODY = 65534 };
	const char *powerless[] = { "/bin/grep", "-q", "^CapEff:.0*$", "/proc/self/status", NULL };
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		fprintf(stderr, "skipped: whoever runs this is somebody already\n");
		_exit(rmdir(folder) == 0 ? SKIPPED : 1);
	}
	CHECK(chown(folder, NOBODY, NOBODY) == 0);
	CHECK(setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0);
	CHECK(setresuid(NOBODY, NOBODY, NOBODY) == 0);
	/* As if it had always been so. */
	CHECK(prctl(PR_SET_DUMPABLE, 1) == 0);
	/* What can be had is less than what is asked for. */
	two_pods(folder, NET_ROOT, NET_USER);
	CHECK(geteuid() == NOBODY && !net_program_run(powerless, WAIT_MS));
	pid = fork();
	if (pid == 0) {
		net_rights_drop();
		execv(powerless[0], (char *const *)(uintptr_t)powerless);
		_exit(1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool beyond_up(void *cookie, struct err *e)
{
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };
	bool ok;

	(void)cookie;
	link_up(&m, LINK_LO);
	link_up(&m, 2);
	link_address(&m, 2, 0xc0000201, 24);
	link_route(&m, 2, 0xc0000200, 24, 0, 0);
	ok = nl_open(&nl, NETLINK_ROUTE, e) && nl_talk(&nl, &m, NULL, e);
	nl_close(&nl);
	return ok;
}

/* Beyond the machine there is a network that knows nothing of pods. */
static void out(const char *folder, bool firewall)
{
	struct net_world w;
	struct net *n;
	struct net_pod a;
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };
	int far = ns_new(NULL, NULL, &problem), at_far, at_machine;

	CHECK(far >= 0 && nl_open(&nl, NETLINK_ROUTE, &problem));
	link_veth(&m, &(struct link_end){ "isp", 20, NULL, -1 }, &(struct link_end){ "eth0", 2, NULL, far }, 1400);
	link_address(&m, 20, 0xc0000202, 24);
	link_route(&m, 20, 0xc0000200, 24, 0, 0);
	CHECK(nl_talk(&nl, &m, NULL, &problem));
	nl_close(&nl);
	CHECK(ns_inside(far, beyond_up, NULL, &problem));
	CHECK(net_enter(&w, folder, NET_ROOT, NET_DIES_WITH_US, &problem));
	CHECK(net_open(&n, &w, folder, ID, &problem));
	if (w.note[0] && !firewall) {
		fprintf(stderr, "skipped: %s\n", w.note);
		net_close(n);
		CHECK(net_clean(folder, ID, &problem));
		_exit(rmdir(folder) == 0 ? SKIPPED : 1);
	}
	CHECK(net_pod_add(n, STR("default"), STR("a"), STR("uid-a"), &a, &problem));
	at_machine = listener(-1);
	expect_connection(a.ns, "192.0.2.2", at_machine, a.ip);
	at_far = listener(far);
	expect_connection(a.ns, "192.0.2.1", at_far, "192.0.2.2");
	net_close(n);
	CHECK(net_clean(folder, ID, &problem));
	expect_nothing_left(folder);
}

static void out_into_the_world(const char *folder)
{
	out(folder, false);
}

/* As Docker and ufw leave a machine. */
static void out_through_a_firewall(const char *folder)
{
	char path[PROGRAM_PATH];
	const char *drop[] = { path, "-P", "FORWARD", "DROP", NULL };
	char name[LINK_NAME_MAX];
	const char *check[] = { path, "-C", "FORWARD", "-i", name, "-j", "ACCEPT", NULL };

	if (!net_program_find(path, "iptables") || !net_program_run(drop, WAIT_MS)) {
		fprintf(stderr, "skipped: iptables cannot be used here\n");
		_exit(rmdir(folder) == 0 ? SKIPPED : 1);
	}
	out(folder, true);
	net_name(name, ID);
	CHECK(!net_program_run(check, WAIT_MS));
}

/* In a process of its own: a network with one pod in which a process lives; then it is killed. */
static void run_and_be_killed(const char *folder, enum net_kind kind, enum net_keep keep, int report)
{
	struct net_world w;
	struct net *n;
	struct net_pod a;
	pid_t pod;
	int at;

	CHECK(net_enter(&w, folder, kind, keep, &problem));
	if (w.kind != kind)
		_exit(SKIPPED);
	CHECK(net_open(&n, &w, folder, ID, &problem));
	CHECK(net_pod_add(n, STR("default"), STR("a"), STR("uid-a"), &a, &problem));
	at = listener(a.ns);
	pod = fork();
	if (pod == 0) {
		CHECK(setns(a.ns, CLONE_NEWNET) == 0);
		close(a.ns);
		/* Listens until nobody can be heard any more. */
		for (;;) {
			int fd = accept(at, NULL, NULL);

			if (fd >= 0)
				close(fd);
		}
	}
	CHECK(write(report, &pod, sizeof(pod)) == sizeof(pod));
	CHECK(write(report, &w.holder, sizeof(w.holder)) == sizeof(w.holder));
	raise(SIGKILL);
}

static bool killed(const char *folder, enum net_kind kind, enum net_keep keep, pid_t *pod, pid_t *holder)
{
	int report[2], status;
	pid_t pid;

	CHECK(pipe2(report, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0)
		run_and_be_killed(folder, kind, keep, report[1]);
	CHECK(waitpid(pid, &status, 0) == pid);
	close(report[1]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		return false;
	CHECK(WIFSIGNALED(status));
	CHECK(read(report[0], pod, sizeof(*pod)) == sizeof(*pod));
	CHECK(read(report[0], holder, sizeof(*holder)) == sizeof(*holder));
	close(report[0]);
	return true;
}

static void adopted(const char *folder, enum net_kind kind)
{
	struct net_world w;
	struct net *n;
	struct net_pod b;
	struct endpoint to = { NULL, -1 };
	char ip[NET_IP_TEXT];
	pid_t pod, holder;

	if (!killed(folder, kind, NET_OUTLIVES_US, &pod, &holder)) {
		CHECK(net_clean(folder, ID, &problem));
		_exit(rmdir(folder) == 0 ? SKIPPED : 1);
	}
	CHECK(net_enter(&w, folder, NET_ROOT, NET_OUTLIVES_US, &problem));
	CHECK(w.adopted && w.kind == kind && w.holder == holder);
	CHECK(net_open(&n, &w, folder, ID, &problem));
	CHECK(net_pod_ip(n, STR("uid-a"), ip));
	CHECK(net_pod_add(n, STR("default"), STR("b"), STR("uid-b"), &b, &problem));
	CHECK(strcmp(ip, b.ip) != 0);
	to.ip = ip;
	CHECK(ns_inside(b.ns, connect_here, &to, &problem));
	close(to.fd);
	kill(pod, SIGKILL);
	net_close(n);
	CHECK(net_clean(folder, ID, &problem));
	expect_nothing_left(folder);
	expect_ended(holder);
}

static void adopted_as_root(const char *folder)
{
	adopted(folder, NET_ROOT);
}

static void adopted_as_user(const char *folder)
{
	adopted(folder, NET_USER);
}

/* What `dljob run` leaves when it is killed is nothing that runs; the next start with the folder begins anew. */
static void dies_with_us(const char *folder)
{
	struct net_world w;
	struct net *n;
	pid_t pod, holder;
	char ip[NET_IP_TEXT];

	CHECK(killed(folder, NET_ROOT, NET_DIES_WITH_US, &pod, &holder));
	expect_ended(holder);
	kill(pod, SIGKILL);
	CHECK(net_enter(&w, folder, NET_ROOT, NET_DIES_WITH_US, &problem));
	CHECK(!w.adopted && w.holder != holder);
	CHECK(net_open(&n, &w, folder, ID, &problem));
	CHECK(net_pod_ip(n, STR("uid-a"), ip));
	net_close(n);
	CHECK(net_clean(folder, ID, &problem));
	expect_nothing_left(folder);
}

static _Noreturn void work_until_killed(const char *folder)
{
	struct net_world w;
	struct net *n;
	struct net_pod a;
	char uid[16];

	CHECK(net_enter(&w, folder, NET_ROOT, NET_OUTLIVES_US, &problem));
	CHECK(net_open(&n, &w, folder, ID, &problem));
	CHECK(!w.note[0]);
	for (unsigned i = 0;; i++) {
		snprintf(uid, sizeof(uid), "uid-%u", i % 50);
		CHECK(net_pod_add(n, STR("default"), STR("a"), str_c(uid), &a, &problem));
		close(a.ns);
		if (i % 3 == 0)
			CHECK(net_pod_remove(n, str_c(uid), &problem));
	}
}

/* Killed at any moment: the next one goes on or begins anew, and in the end no process and no link is left. */
static void killed_at_any_moment(const char *folder)
{
	struct rng r = rng_seed(5);
	struct nl nl = NL_INIT;
	struct link_seen seen = { .index = 1 };
	char name[LINK_NAME_MAX];
	int status;

	/* Whoever loses its parent becomes our child, so that none can hide. */
	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork();

		if (pid == 0)
			work_until_killed(folder);
		usleep((useconds_t)rng_below(&r, i % 2 ? 60000 : 15000));
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status));
		if (rng_one_in(&r, 4))
			CHECK(net_clean(folder, ID, &problem));
	}
	CHECK(net_clean(folder, ID, &problem));
	while (waitpid(-1, &status, 0) > 0) {
	}
	CHECK(errno == ECHILD);
	/* A namespace takes a moment to go. */
	net_name(name, ID);
	CHECK(nl_open(&nl, NETLINK_ROUTE, &problem));
	for (int i = 0; i < 600 && seen.index != 0; i++) {
		CHECK(link_find(&nl, name, &seen, &problem));
		if (seen.index != 0)
			usleep(100000);
	}
	nl_close(&nl);
	expect_nothing_left(folder);
}

/* A link with our name and without our mark is somebody else's. */
static void foreign_link(const char *folder)
{
	struct net_world w;
	struct net *n;
	struct net_pod a;
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };
	struct link_seen seen;
	char name[LINK_NAME_MAX];

	net_name(name, ID);
	CHECK(nl_open(&nl, NETLINK_ROUTE, &problem));
	link_veth(&m, &(struct link_end){ name, 0, NULL, -1 }, &(struct link_end){ "x", 0, NULL, -1 }, 1500);
	CHECK(nl_talk(&nl, &m, NULL, &problem));
	CHECK(net_enter(&w, folder, NET_ROOT, NET_DIES_WITH_US, &problem));
	if (net_open(&n, &w, folder, ID, &problem)) {
		CHECK(w.note[0]);
		CHECK(net_pod_add(n, STR("default"), STR("a"), STR("uid-a"), &a, &problem));
		net_close(n);
	}
	err_release(&problem);
	CHECK(net_clean(folder, ID, &problem));
	CHECK(link_find(&nl, name, &seen, &problem) && seen.index != 0);
	nl_close(&nl);
}

static void host_network(const char *folder)
{
	const uint16_t ports[] = { 2222, 2223 }, other[] = { 2224, 2223 };
	struct net_world w;
	struct net *n;
	struct net_pod a;
	char ip[NET_IP_TEXT];

	CHECK(net_enter(&w, folder, NET_HOST, NET_DIES_WITH_US, &problem));
	CHECK(w.kind == NET_HOST && w.holder == 0);
	CHECK(net_open(&n, &w, folder, ID, &problem));
	CHECK(net_pod_add(n, STR("default"), STR("a"), STR("uid-a"), &a, &problem));
	CHECK(a.ns == -1 && strcmp(a.ip, "127.0.0.1") == 0);
	CHECK(net_pod_ip(n, STR("uid-a"), ip) && strcmp(ip, "127.0.0.1") == 0);
	CHECK(net_ports_take(n, STR("uid-a"), ports, 2, &problem));
	CHECK(net_ports_take(n, STR("uid-a"), ports, 2, &problem));
	CHECK(!net_ports_take(n, STR("uid-b"), other, 2, &problem));
	CHECK(strstr(err_msg(&problem), "2223") && strstr(err_msg(&problem), "uid-a"));
	err_release(&problem);
	/* All or none. */
	CHECK(net_ports_take(n, STR("uid-c"), other, 1, &problem));
	CHECK(net_pod_remove(n, STR("uid-a"), &problem));
	CHECK(net_ports_take(n, STR("uid-b"), ports, 2, &problem));
	CHECK(net_pod_remove(n, STR("uid-b"), &problem));
	CHECK(net_pod_remove(n, STR("uid-c"), &problem));
	net_close(n);
	CHECK(net_clean(folder, ID, &problem));
}

#define SCENARIO(name)                                                                                                 \
	static void test_##name(void **state)                                                                          \
	{                                                                                                              \
		(void)state;                                                                                           \
		scenario_test(name);                                                                                   \
	}
SCENARIO(as_root)
SCENARIO(as_user)
SCENARIO(as_somebody)
SCENARIO(out_into_the_world)
SCENARIO(out_through_a_firewall)
SCENARIO(adopted_as_root)
SCENARIO(adopted_as_user)
SCENARIO(dies_with_us)
SCENARIO(killed_at_any_moment)
SCENARIO(foreign_link)
SCENARIO(host_network)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_root),
		cmocka_unit_test(test_as_user),
		cmocka_unit_test(test_as_somebody),
		cmocka_unit_test(test_out_into_the_world),
		cmocka_unit_test(test_out_through_a_firewall),
		cmocka_unit_test(test_adopted_as_root),
		cmocka_unit_test(test_adopted_as_user),
		cmocka_unit_test(test_dies_with_us),
		cmocka_unit_test(test_killed_at_any_moment),
		cmocka_unit_test(test_foreign_link),
		cmocka_unit_test(test_host_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
