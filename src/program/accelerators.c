/* The file of accelerators: read at the start, looked at again when it changes. */
#include "base/file.h"
#include "base/log.h"
#include "kind/accelerators.h"
#include "program/program.h"

static const char *config_path(const struct program *p)
{
	const char *path = p->flags->controller_config;

	return path && *path ? path : NULL;
}

static struct accelerators *load(const char *path, uint64_t *ret_hash, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct accelerators *ret = NULL;
	struct str text = STR_NONE;

	switch (file_read(&text, path, &a, e)) {
	case FILE_READ:
		ret = accelerators_parse(str_c(path), text, e);
		break;
	case FILE_MISSING:
		err_set(e, ERR_IO, "%s: no such file", path);
		break;
	case FILE_FAILED:
		break;
	}
	*ret_hash = str_hash(text);
	arena_release(&a);
	return ret;
}

static void log_accelerators(const struct program *p, const struct accelerators *a)
{
	const char *key, *why;

	log_info(FIELDS(F_STR("file", str_c(config_path(p))), F_INT("accelerators", (int64_t)accelerators_count(a))),
	         "read");
	for (size_t i = 0; accelerators_idle(a, i, &key, &why); i++)
		log_warn(FIELDS(F_STR("file", str_c(config_path(p))), F_STR("key", str_c(key))), "has no effect: %s",
		         why);
}

/* Nothing is made without what it says: pods would lack what they ask for. */
static void hold(struct program *p, const struct err *e)
{
	free(p->held);
	p->held = xstrndup(err_msg(e), strlen(err_msg(e)));
	log_error(NO_FIELDS, "waiting for the file to be fixed: %s", err_msg(e));
}

bool program_open_accelerators(struct program *p, loop_watch_fn on_change, struct err *e)
{
	const char *path = config_path(p);

	if (!path)
		return true;
	p->accelerators = load(path, &p->config_hash, e);
	if (p->accelerators) {
		log_accelerators(p, p->accelerators);
	} else {
		err_wrap(e, "--controller-config-file");
		/* Kubernetes starts again what ends, and that would not mend it. */
		if (!p->flags->in_cluster)
			return false;
		hold(p, e);
		err_release(e);
		p->config_hash = ~p->config_hash;
	}
	p->config_watch = loop_watch_new(p->loop, path, on_change, p, e);
	return p->config_watch || err_wrap(e, "--controller-config-file");
}

bool program_accelerators_changed(struct program *p)
{
	const char *path = config_path(p);
	struct accelerators *next;
	struct err e = ERR_INIT;
	uint64_t hash;

	if (!path)
		return false;
	next = load(path, &hash, &e);
	if (!next) {
		if (p->held)
			hold(p, &e);
		else if (program_news(p, err_msg(&e)))
			log_error(NO_FIELDS, "the accelerators are unchanged: %s", err_msg(&e));
		/* Whatever comes next is another one, also the one that holds, or an empty one where there was none. */
		p->config_hash = ~hash;
		err_release(&e);
		return false;
	}
	if (hash == p->config_hash) {
		accelerators_free(next);
		return false;
	}
	p->config_hash = hash;
	log_accelerators(p, next);
	accelerators_free(p->next_accelerators);
	p->next_accelerators = next;
	return true;
}

bool program_held(struct program *p, msec *next)
{
	msec now = loop_now(p->loop);

	if (!p->held)
		return false;
	*next = p->look_at == NEVER ? NEVER : MAX(p->look_at - now, 0);
	if (now < p->look_at)
		return true;
	p->look_at = *next = NEVER;
	if (!program_accelerators_changed(p))
		return true;
	program_swap_accelerators(p);
	free(p->held);
	p->held = NULL;
	return false;
}

void program_swap_accelerators(struct program *p)
{
	if (!p->next_accelerators)
		return;
	accelerators_free(p->accelerators);
	p->accelerators = p->next_accelerators;
	p->next_accelerators = NULL;
}

void program_close_accelerators(struct program *p)
{
	accelerators_free(p->accelerators);
	accelerators_free(p->next_accelerators);
	free(p->held);
}
