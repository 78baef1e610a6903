#include "kube/certs.h"

static const msec look_every = MINUTES(1), doubt_every = SECONDS(1);

struct kube_certs {
	struct kube_certs_config config;
	struct loop_timer *timer;
	msec looked;
	struct arena arena; /* of what was read last and is in use */
};

/* A file that somebody is writing has a beginning and no end. */
static bool is_whole(struct str pem)
{
	return memmem(pem.p, pem.n, "-----BEGIN ", 11) && memmem(pem.p, pem.n, "-----END ", 9);
}

static bool read_one(struct str *ret, struct str path, struct arena *a, struct err *e)
{
	switch (file_read(ret, arena_str(a, path).p, a, e)) {
	case FILE_READ:
		return is_whole(*ret) || err_set(e, ERR_INVALID, "%.*s has no PEM data", STR_F(path));
	case FILE_MISSING:
		return err_set(e, ERR_IO, "%.*s does not exist", STR_F(path));
	case FILE_FAILED:
		return false;
	}
	BUG("what was read?");
}

/* *CHANGED: something else stands there than is in use. */
static bool read_all(const struct kube_config *c, struct http_server *ret, bool *changed, struct arena *a,
                     struct err *e)
{
	const struct {
		struct str path;
		struct str *text;
	} files[] = { { c->ca_file, &ret->ca }, { c->cert_file, &ret->cert }, { c->key_file, &ret->key } };

	*ret = c->server;
	*changed = false;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct str is;

		if (str_empty(files[i].path))
			continue;
		if (!read_one(&is, files[i].path, a, e))
			return false;
		*changed |= !str_eq(is, *files[i].text);
		*files[i].text = is;
	}
	return true;
}

static void report_problem(const struct kube_certs *k, const char *problem)
{
	if (k->config.told)
		k->config.told(k->config.told_cookie, problem);
}

static void look_at_files(void *cookie)
{
	struct kube_certs *k = cookie;
	struct kube_config *c = k->config.config;
	struct arena arena = ARENA_INIT, old;
	struct err e = ERR_INIT;
	struct http_server s;
	bool changed;

	k->looked = loop_now(k->config.loop);
	loop_timer_set(k->timer, look_every);
	if (!read_all(c, &s, &changed, &arena, &e) || (changed && !k->config.use(k->config.cookie, &s, &e))) {
		report_problem(k, err_msg(&e));
	} else if (changed) {
		old = k->arena;
		k->arena = arena;
		arena = old;
		c->server = s;
		report_problem(k, NULL);
	}
	err_release(&e);
	arena_release(&arena);
}

struct kube_certs *kube_certs_new(const struct kube_certs_config *c)
{
	struct kube_certs *k = xcalloc(1, sizeof(*k));

	k->config = *c;
	if (str_empty(c->config->ca_file) && str_empty(c->config->cert_file) && str_empty(c->config->key_file))
		return k;
	k->timer = loop_timer_new(c->loop, look_at_files, k);
	/* CONFIG may have been read long ago. */
	loop_timer_set(k->timer, 0);
	return k;
}

void kube_certs_free(struct kube_certs *k)
{
	if (!k)
		return;
	loop_timer_free(k->timer);
	arena_release(&k->arena);
	free(k);
}

void kube_certs_doubt(struct kube_certs *k)
{
	if (k->timer && loop_now(k->config.loop) - k->looked >= doubt_every)
		look_at_files(k);
}
