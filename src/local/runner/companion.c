#include "local/runner/companion.h"

#include "local/runner/call.h"
#include "object/labels.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LOOPBACK "127.0.0.1"
enum { PORTS_TRIED = 100, PATH_TEXT = 4096 };

bool companion_is(const struct runner_pod *p)
{
	return companion_of_pod(pod_object(p)) != NULL;
}

bool companion_on_host(const struct runner_pod *p)
{
	return yyjson_is_true(json_at(pod_object(p), "spec", "hostNetwork", NULL)) || companion_is(p);
}

/* --- is it here? --- */

static struct str env_value(const struct pod_container *c, const char *name)
{
	for (size_t i = 0; i < c->env.n; i++)
		if (str_eqc(c->env.v[i].name, name))
			return c->env.v[i].value;
	return STR_NONE;
}

static bool is_program(struct str folder, struct str name)
{
	char path[PATH_TEXT];
	struct stat st;

	return folder.n && snprintf(path, sizeof(path), "%.*s/%.*s", STR_F(folder), STR_F(name)) < (int)sizeof(path) &&
	       access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_installed(const struct pod_container *c)
{
	struct str path = env_value(c, "PATH"), folder;

	/* In a tree of its own it is looked for there. */
	if (c->rootfs.n || memchr(c->command.v[0].p, '/', c->command.v[0].n))
		return true;
	while (str_next(&path, ':', &folder))
		if (is_program(folder, c->command.v[0]))
			return true;
	return false;
}

/* --- its port --- */

static bool is_free(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	bool ok;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	/* What waits for its last packets is no obstacle. */
	ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	     bind(fd, (struct sockaddr *)&to, sizeof(to)) == 0 && listen(fd, 1) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Whoever on this machine starts one, under any user, takes the port by a name that only one can have: two that look
   at the same moment find it free, and the one that cannot listen would be told to answer, by the other's answer. */
static int take_name(const struct runner_pod *p, int port)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "dljob-%s-%d",
	                 companion_of_pod(pod_object(p))->name, port);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&name,
	                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void companion_release(struct runner_pod *p)
{
	if (p->own_port && p->own_name >= 0)
		close(p->own_name);
	p->own_port = 0;
	p->own_name = -1;
}

static void choose_port(struct runner_pod *p)
{
	int first = companion_of_pod(pod_object(p))->port;

	companion_release(p);
	for (int port = first; port < first + PORTS_TRIED; port++) {
		int name = take_name(p, port);

		if (name >= 0 && is_free(port)) {
			p->own_port = port;
			p->own_name = name;
			return;
		}
		if (name >= 0)
			close(name);
	}
}

void companion_adopt(struct runner_pod *p)
{
	struct str said = json_str(json_at(pod_object(p), "metadata", "annotations", ANNOTATION_ADDRESS, NULL));
	struct str before = STR("http://" LOOPBACK ":"), port = STR_NONE;
	int64_t n;

	if (!companion_is(p) || !str_has_prefix(said, before))
		return;
	said = str_sub(said, before.n, said.n);
	if (!str_next(&said, '/', &port) || !str_int(port, &n) || n <= 0 || n > UINT16_MAX)
		return;
	companion_release(p);
	p->own_port = (int)n;
	p->own_name = take_name(p, (int)n);
}

static bool tell_address(struct runner *r, struct runner_pod *p)
{
	struct str body = arena_printf(
		&r->round, "{\"metadata\":{\"annotations\":{\"" ANNOTATION_ADDRESS "\":\"http://" LOOPBACK ":%d/\"}}}",
		p->own_port);
	int code;

	return runner_patch_pod(r, p, false, body, &code, NULL);
}

/* --- as it runs here --- */

/* The value after the flag NAME. */
static void set_flag(struct pod_container *c, const char *name, struct str value)
{
	for (size_t i = 0; i + 1 < c->command.n; i++)
		if (str_eqc(c->command.v[i], name))
			c->command.v[i + 1] = value;
}

/* The caller's home: what was installed for one user is found through it. */
static void set_home(const struct runner *r, struct pod_container *c)
{
	for (size_t i = 0; i < c->env.n; i++)
		for (const char *const *one = r->c.env; one && *one && str_eqc(c->env.v[i].name, "HOME"); one++)
			if (str_has_prefix(str_c(*one), STR("HOME=")))
				c->env.v[i].value = str_c(*one + strlen("HOME="));
}

/* The machine's own /tmp may be where the logs are. */
static void drop_tmp(struct pod_container *c, struct str tmp)
{
	size_t n = 0;

	for (size_t i = 0; i < c->mounts.n; i++)
		if (!str_eq(c->mounts.v[i].volume, tmp))
			c->mounts.v[n++] = c->mounts.v[i];
	c->mounts.n = n;
}

static bool wait_for(struct pod_refusal *why, const struct pod_container *c, const char *reason)
{
	*why = (struct pod_refusal){ .reason = reason, .container = c->name, .retry = true };
	return false;
}

bool companion_make_spec(struct runner *r, struct runner_pod *p, struct pod_spec *spec, struct pod_refusal *why,
                         struct err *e)
{
	struct pod_container *c = &spec->containers.v[spec->containers.n - 1];
	const struct companion_type *t = companion_of_pod(pod_object(p));

	if (!c->command.n || !is_installed(c)) {
		err_set(e, ERR_INVALID, "%s is not installed on this machine; %s", t->name, t->install);
		return wait_for(why, c, "NotInstalled");
	}
	choose_port(p);
	if (!p->own_port || !tell_address(r, p)) {
		err_set(e, ERR_IO, "no port between %d and %d is free", t->port, t->port + PORTS_TRIED - 1);
		return wait_for(why, c, "NoFreePort");
	}
	set_flag(c, t->host_flag, STR(LOOPBACK));
	set_flag(c, t->port_flag, arena_printf(&r->round, "%d", p->own_port));
	set_home(r, c);
	drop_tmp(c, companion_tmp(t, &r->round));
	/* Nobody asked for its securityContext. */
	spec->notes.n = 0;
	c->uid = c->gid = -1;
	c->readiness.host = STR(LOOPBACK);
	c->readiness.port = p->own_port;
	spec->hostname = STR_NONE;
	return true;
}
