/* A plain load generator: sends the requests of a file to an API server as fast as so many connections
   take them, begun in the order of the file, and says how long that took. It knows nothing of jobs.

     replay CONNECTIONS FILE      (the server: KUBECONFIG)

   A request in the file: a line "METHOD PATH CONTENT-TYPE LENGTH", LENGTH bytes of body, a line feed. */
#include "kube/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ERRORS_SHOWN = 5 };

struct replay {
	struct loop *loop;
	struct http_client *client;
	struct str rest; /* of the file */
	size_t in_flight, requests, errors;
	bool broken; /* the file is not what it should be */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool method_parse(struct str s, enum http_method *ret)
{
	static const char *const names[] = { [HTTP_GET] = "GET",
		                             [HTTP_POST] = "POST",
		                             [HTTP_PUT] = "PUT",
		                             [HTTP_PATCH] = "PATCH",
		                             [HTTP_DELETE] = "DELETE" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_eqc(s, names[i])) {
			*ret = (enum http_method)i;
			return true;
		}
	}
	return false;
}

/* Cuts the next request off the file; false at its end, or if there is none. */
static bool next_request(struct replay *r, struct http_request *ret)
{
	struct str line, method, length;
	int64_t n;

	if (!str_next(&r->rest, '\n', &line) || str_empty(line))
		return false;
	r->broken = true;
	if (!str_next(&line, ' ', &method) || !method_parse(method, &ret->method) ||
	    !str_next(&line, ' ', &ret->path) || !str_next(&line, ' ', &ret->content_type) ||
	    !str_next(&line, ' ', &length) || !str_int(length, &n) || n < 0 || (uint64_t)n >= r->rest.n ||
	    r->rest.p[n] != '\n')
		return false;
	r->broken = false;
	ret->body = str_sub(r->rest, 0, (size_t)n);
	r->rest = str_sub(r->rest, (size_t)n + 1, r->rest.n);
	return true;
}

static void send_next(struct replay *r);

static void done(void *cookie, const struct http_answer *a)
{
	struct replay *r = cookie;

	r->in_flight--;
	r->requests++;
	if (a->status / 100 != 2 && r->errors++ < ERRORS_SHOWN) {
		struct str body = str_sub(a->body, 0, 300);

		fprintf(stderr, "replay: %d %s%.*s\n", a->status, a->problem ? a->problem : "", STR_F(body));
	}
	send_next(r);
	if (!r->in_flight)
		loop_stop(r->loop);
}

static void send_next(struct replay *r)
{
	struct http_request q = { .timeout = SECONDS(60), .done = done, .cookie = r };

	if (r->broken || !next_request(r, &q))
		return;
	r->in_flight++;
	http_send(r->client, &q);
}

/* For the whole of the run; the file is not empty. */
static bool map_file(const char *path, struct str *ret, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	else
		*ret = (struct str){ p, (size_t)st.st_size };
	if (fd >= 0)
		close(fd);
	return p != MAP_FAILED;
}

static const char *from_environment(void *cookie, const char *name)
{
	(void)cookie;
	return getenv(name);
}

static bool replay(struct replay *r, size_t connections, struct arena *a, struct err *e)
{
	struct kube_config_args args = { .env = from_environment };
	struct kube_config config;
	double start;

	if (!kube_config_load(&config, &args, a, e))
		return false;
	config.server.user_agent = STR("replay");
	r->loop = loop_new();
	r->client = http_client_new(r->loop, &config.server, connections, e);
	if (!r->client) {
		loop_free(r->loop);
		return false;
	}
	start = now();
	for (size_t i = 0; i < connections; i++)
		send_next(r);
	if (r->in_flight)
		loop_run(r->loop);
	start = now() - start;
	http_client_free(r->client);
	loop_free(r->loop);
	if (r->broken)
		return err_set(e, ERR_INVALID, "request %zu cannot be read", r->requests + 1);
	printf("%zu requests, %.3f s, %.0f a second, %zu errors\n", r->requests, start, (double)r->requests / start,
	       r->errors);
	return true;
}

int main(int argc, char **argv)
{
	struct replay r = { 0 };
	struct arena a = { 0 };
	struct err e = ERR_INIT;
	int64_t connections;
	bool ok;

	if (argc != 3 || !str_int(str_c(argv[1]), &connections) || connections < 1 || connections > 1000) {
		fprintf(stderr, "usage: replay CONNECTIONS FILE\n");
		return 2;
	}
	ok = map_file(argv[2], &r.rest, &e) && replay(&r, (size_t)connections, &a, &e);
	if (!ok)
		fprintf(stderr, "replay: %s\n", err_msg(&e));
	err_release(&e);
	arena_release(&a);
	return !ok || r.errors;
}
