#include "local/runner/testing.h"

#include "base/file.h"
#include "local/net/link.h"
#include "local/net/nl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

enum { SKIPPED = 77, PATIENCE = 30, DEADLINE = 240, OPEN_FILES = 16, TEXT_MAX = 1 << 20 };

static struct lab *current;

void lab_fail(const char *file, int line, const char *what)
{
	struct store_answer a;

	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	if (current && current->store) {
		store_call(
			current->store,
			&(struct store_request){ .verb = STORE_LIST,
		                                 .type = store_type(current->store, STR(""), STR("v1"), STR("pods")) },
			&a);
		fprintf(stderr, "%s\n", a.body.p);
	}
	if (current && current->runner) {
		runner_stop(current->runner, 0);
		for (int i = 0; i < 50 && runner_living(current->runner); i++) {
			runner_step(current->runner);
			usleep(100000);
		}
	}
	_exit(1);
}

/* --- Programs of containers --- */

static int listen_at(const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)strtol(port, NULL, 10)) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, peer;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(fd, 8) != 0)
		return 1;
	peer = accept(fd, NULL, NULL);
	return peer >= 0 && write(peer, "hello\n", 6) == 6 ? 0 : 1;
}

static bool connect_once(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *all = NULL;
	char text[64];
	ssize_t n = -1;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (getaddrinfo(host, port, &hints, &all) == 0 && connect(fd, all->ai_addr, all->ai_addrlen) == 0)
		n = read(fd, text, sizeof(text));
	if (all)
		freeaddrinfo(all);
	close(fd);
	return n > 0 && write(STDOUT_FILENO, text, (size_t)n) == n;
}

static int connect_to(char *where)
{
	char *colon = strchr(where, ':');

	if (!colon)
		return 1;
	*colon = 0;
	while (!connect_once(where, colon + 1))
		usleep(20000);
	return 0;
}

bool lab_is_program(int argc, char **argv, int *ret)
{
	if (argc != 3 && argc != 4)
		return false;
	if (strcmp(argv[1], "pod") == 0)
		*ret = pod_main(argv[2], argc == 4);
	else if (strcmp(argv[1], "listen") == 0)
		*ret = listen_at(argv[2]);
	else if (strcmp(argv[1], "connect") == 0)
		*ret = connect_to(argv[2]);
	else
		return false;
	return true;
}

/* --- The loop --- */

static void woken(void *cookie)
{
	struct lab *l = cookie;

	loop_timer_set(l->timer, 0);
}

static void changed(void *cookie, struct str ns, struct str name, struct str uid)
{
	struct lab *l = cookie;

	CHECK(ns.n && name.n && uid.n);
	l->changes++;
}

static void look(struct lab *l)
{
	if (!l->until || !l->until(l))
		return;
	l->reached = true;
	loop_stop(l->loop);
}

/* Files may change without a word to the runner, which is not to be woken by that. */
static void look_again(void *cookie)
{
	struct lab *l = cookie;

	look(l);
	loop_timer_set(l->poll, 20);
}

/* A time of that clock as a delay. */
static msec until(msec at, const struct clock *clock)
{
	return at == NEVER ? NEVER : MAX(at - clock_now(clock), (msec)0);
}

static void step(void *cookie)
{
	struct lab *l = cookie;
	msec next = until(store_step(l->store), &clock_wall);

	if (l->runner)
		next = MIN(next, until(runner_step(l->runner), l->config.clock));
	if (next != NEVER)
		loop_timer_set(l->timer, next);
	look(l);
}

static void too_late(void *cookie)
{
	struct lab *l = cookie;

	l->late = true;
	loop_stop(l->loop);
}

void lab_until(struct lab *l, bool (*fn)(struct lab *l))
{
	l->until = fn;
	l->reached = l->late = false;
	loop_timer_set(l->timer, 0);
	loop_timer_set(l->poll, 20);
	loop_timer_set(l->limit, SECONDS(PATIENCE));
	while (!l->reached && !l->late)
		loop_run(l->loop);
	loop_timer_stop(l->limit);
	loop_timer_stop(l->poll);
	l->until = NULL;
	CHECK(!l->late);
}

/* --- The world --- */

static void loopback_up(void)
{
	struct nl nl = NL_INIT;
	struct nl_msg m = { .n = 0 };

	if (!nl_open(&nl, NETLINK_ROUTE, NULL))
		return;
	link_up(&m, LINK_LO);
	nl_talk(&nl, &m, NULL, NULL);
	nl_close(&nl);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void lab_start(struct lab *l)
{
	struct err e = ERR_INIT;

	l->runner = runner_new(&l->config, &e);
	if (!l->runner)
		fprintf(stderr, "%s\n", err_msg(&e));
	CHECK(l->runner);
}

void lab_leave(struct lab *l)
{
	runner_free(l->runner);
	l->runner = NULL;
}

static void open_lab(struct lab *l, enum net_kind kind)
{
	static const char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", NULL };
	/* Control groups are named by UIDs: no two tests may have the same. */
	uint64_t seed = (uint64_t)clock_now(&clock_wall) << 20 ^ (uint64_t)getpid();
	struct err e = ERR_INIT;

	if (!net_enter(&l->world, l->folder, kind, NET_DIES_WITH_US, &e) ||
	    !net_open(&l->net, &l->world, l->folder, STR("runner test"), &e)) {
		fprintf(stderr, "%s\n", err_msg(&e));
		_exit(1);
	}
	if (l->world.kind != kind) {
		fprintf(stderr, "skipped: %s\n", l->world.note);
		net_close(l->net);
		if (!net_clean(l->folder, STR("runner test"), &e))
			fprintf(stderr, "%s\n", err_msg(&e));
		file_remove_tree(l->folder, false, NULL);
		_exit(SKIPPED);
	}
	l->loop = loop_new();
	l->timer = loop_timer_new(l->loop, step, l);
	l->limit = loop_timer_new(l->loop, too_late, l);
	l->poll = loop_timer_new(l->loop, look_again, l);
	l->store = store_open(&(struct store_config){ .clock = &clock_wall, .seed = seed, .wake = woken, .cookie = l },
	                      &e);
	CHECK(l->store);
	l->kinds = kinds_new(NULL);
	CHECK(kinds_load_builtin(l->kinds, &e));
	l->config = (struct runner_config){
		.loop = l->loop,
		.store = l->store,
		.kinds = l->kinds,
		.clock = &clock_wall,
		.folder = l->folder,
		.node = STR("this"),
		.net = l->net,
		.world = &l->world,
		.machine = { .cpu = 4000, .memory = (int64_t)8 << 30 },
		.env = env,
		.cwd = STR("/"),
		.backoff = 1,
		.wake = woken,
		.changed = changed,
		.cookie = l,
	};
}

static bool nothing_lives(struct lab *l)
{
	return runner_living(l->runner) == 0;
}

static void close_lab(struct lab *l)
{
	struct err e = ERR_INIT;

	if (!l->runner)
		lab_start(l);
	runner_stop(l->runner, 0);
	lab_until(l, nothing_lives);
	lab_leave(l);
	kinds_free(l->kinds);
	store_close(l->store);
	loop_timer_free(l->timer);
	loop_timer_free(l->limit);
	loop_timer_free(l->poll);
	loop_free(l->loop);
	net_close(l->net);
	CHECK(net_clean(l->folder, STR("runner test"), &e));
	arena_release(&l->arena);
	/* A mount that was left would be busy. */
	CHECK(nftw(l->folder, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0);
	/* Nor is there a zombie. */
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static _Noreturn void scenario(lab_fn fn, enum net_kind kind)
{
	struct lab l = { .folder = "/tmp/dl-runner-XXXXXX" };

	/* Nothing may hang. */
	alarm(DEADLINE);
	if (geteuid() == 0 && unshare(CLONE_NEWNET) == 0)
		loopback_up();
	CHECK(mkdtemp(l.folder));
	current = &l;
	open_lab(&l, kind);
	lab_start(&l);
	fn(&l);
	close_lab(&l);
	/* Not _exit(): whoever counts leaks does it there. */
	exit(0);
}

void lab_run(lab_fn fn, enum net_kind kind)
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
		scenario(fn, kind);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- Objects --- */

static const struct store_type *type_named(struct lab *l, const char *plural)
{
	const struct store_type *t;

	for (size_t i = 0; (t = store_type_at(l->store, i)); i++)
		if (str_eqc(t->plural, plural))
			return t;
	lab_fail(__FILE__, __LINE__, plural);
}

static int ask(struct lab *l, enum store_verb verb, const char *plural, const char *name, bool status, struct str body,
               struct buf *ret)
{
	const struct store_type *t = type_named(l, plural);
	struct store_answer a;

	store_call(l->store,
	           &(struct store_request){ .verb = verb,
	                                    .type = t,
	                                    .ns = t->namespaced ? STR("default") : STR_NONE,
	                                    .name = str_c(name),
	                                    .status = status,
	                                    .patch = STORE_PATCH_MERGE,
	                                    .body = body },
	           &a);
	if (ret)
		buf_put(ret, buf_str(&a.body));
	else if (a.code >= 300)
		fprintf(stderr, "%s %s: %s\n", plural, name ? name : "", a.body.p);
	store_answer_release(&a);
	return a.code;
}

int lab_create(struct lab *l, const char *plural, const char *fmt, ...)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	char text[16384];
	va_list args;
	int code;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	buf_put(&b, str_c(text));
	code = ask(l, STORE_CREATE, plural, NULL, false, buf_str(&b), NULL);
	buf_release(&b);
	return code;
}

void lab_pod(struct lab *l, const char *name, const char *script, const char *extra, const char *spec)
{
	struct buf b = BUF_INIT(TEXT_MAX);

	buf_json_str(&b, str_c(script));
	CHECK(lab_create(l, "pods",
	                 "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"%s\"}},\"spec\":{\"restartPolicy\":"
	                 "\"Never\","
	                 "\"containers\":[{\"name\":\"main\",\"image\":\"none\",\"command\":[\"/bin/"
	                 "sh\",\"-ec\",%s]%s}]%s}}",
	                 name, name, b.p, extra, spec) == 201);
	buf_release(&b);
}

int lab_delete(struct lab *l, const char *plural, const char *name, const char *options)
{
	return ask(l, STORE_DELETE, plural, name, false, str_c(options), NULL);
}

int lab_patch(struct lab *l, const char *plural, const char *name, bool status, const char *body)
{
	return ask(l, STORE_PATCH, plural, name, status, str_c(body), NULL);
}

static yyjson_val *walk(yyjson_val *v, struct str path)
{
	struct str key;
	int64_t i;

	while (v && str_next(&path, '.', &key))
		v = yyjson_is_arr(v) && str_int(key, &i) ? yyjson_arr_get(v, (size_t)i) : json_get_str(v, key);
	return v;
}

struct str lab_get(struct lab *l, const char *plural, const char *name, const char *path)
{
	struct buf b = BUF_INIT(TEXT_MAX), text = BUF_INIT(TEXT_MAX);
	int code = ask(l, STORE_GET, plural, name, false, STR_NONE, &b);
	yyjson_doc *doc = code == 200 ? json_parse(buf_str(&b), NULL) : NULL;
	yyjson_val *v = walk(yyjson_doc_get_root(doc), str_c(path));
	struct str ret = json_str(v);

	if (v && !yyjson_is_str(v)) {
		json_write_val(v, &text);
		ret = buf_str(&text);
	}
	ret = arena_str(&l->arena, ret);
	yyjson_doc_free(doc);
	buf_release(&b);
	buf_release(&text);
	return ret;
}

const char *lab_fmt(struct lab *l, const char *fmt, ...)
{
	char text[8192];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return arena_str(&l->arena, str_c(text)).p;
}

const char *lab_path(struct lab *l, const char *name)
{
	return lab_fmt(l, "%s/%s", l->folder, name);
}

const char *lab_wait_for(struct lab *l, const char *name)
{
	return lab_fmt(l, "until [ -e %s ]; do sleep 0.02; done", lab_path(l, name));
}

void lab_touch(struct lab *l, const char *name)
{
	int fd = open(lab_path(l, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	CHECK(fd >= 0);
	close(fd);
}

bool lab_exists(struct lab *l, const char *name)
{
	return access(lab_path(l, name), F_OK) == 0;
}

const char *lab_pod_folder(struct lab *l, const char *pod)
{
	struct str uid = lab_get(l, "pods", pod, "metadata.uid");

	CHECK(uid.n);
	return lab_fmt(l, "%s/pods/%.*s", l->folder, STR_F(uid));
}

int lab_events(struct lab *l, const char *pod, const char *reason, const char *text)
{
	struct buf b = BUF_INIT((size_t)TEXT_MAX * 8);
	yyjson_val *item;
	yyjson_doc *doc;
	size_t i, max;
	int n = 0;

	ask(l, STORE_LIST, "events", NULL, false, STR_NONE, &b);
	doc = json_parse(buf_str(&b), NULL);
	yyjson_arr_foreach(json_get(yyjson_doc_get_root(doc), "items"), i, max, item)
	{
		struct str message = json_str(json_get(item, "message"));

		n += str_eqc(json_str(json_get(item, "reason")), reason) &&
		     str_eqc(json_str(json_at(item, "involvedObject", "name", NULL)), pod) &&
		     (!*text || memmem(message.p, message.n, text, strlen(text)));
	}
	yyjson_doc_free(doc);
	buf_release(&b);
	return n;
}

bool lab_event(struct lab *l, const char *pod, const char *reason)
{
	return lab_events(l, pod, reason, "") > 0;
}

struct str lab_log(struct lab *l, const char *pod)
{
	struct str uid = lab_get(l, "pods", pod, "metadata.uid"), text = STR_NONE, line;
	struct str path = arena_printf(&l->arena, "%s/pods/%.*s/logs/main/0.log", l->folder, STR_F(uid));
	struct buf out = BUF_INIT(TEXT_MAX);

	if (file_read(&text, path.p, &l->arena, NULL) != FILE_READ)
		return STR("");
	while (str_next(&text, '\n', &line)) {
		if (line.n < 40)
			continue;
		buf_put(&out, str_sub(line, 40, line.n));
		buf_putc(&out, '\n');
	}
	text = arena_str(&l->arena, buf_str(&out));
	buf_release(&out);
	return text;
}
