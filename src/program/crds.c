/* The CRDs of the kinds, at the start and at the end of the program. */
#include "program/program.h"

#include "base/log.h"

void program_open_crds(struct program *p)
{
	struct crd_options o = { .install = p->flags->install_crds,
		                 .adopt = p->flags->adopt_crds,
		                 .look = p->only_crds || str_empty(str_c(p->flags->ns)),
		                 .ns = str_c(p->flags->ns) };

	p->n_crds = kinds_count(p->kinds);
	p->crds = xcalloc(p->n_crds + 1, sizeof(*p->crds));
	p->crd_said = xcalloc(p->n_crds + 1, sizeof(*p->crd_said));
	for (size_t i = 0; i < p->n_crds; i++)
		p->crds[i] = crd_new(p->kinds, kinds_at(p->kinds, i), &o);
}

void program_close_crds(struct program *p, bool keep)
{
	struct api_call call;

	for (size_t i = 0; i < p->n_crds; i++) {
		free(p->crd_said[i]);
		if (keep && crd_undo(p->crds[i], &call)) {
			p->made = xrealloc(p->made, (p->n_made + 1) * sizeof(*p->made));
			p->made[p->n_made++] = p->crds[i];
		} else {
			crd_free(p->crds[i]);
		}
	}
	free(p->crds);
	free(p->crd_said);
	p->crds = NULL;
	p->crd_said = NULL;
	p->n_crds = 0;
}

static struct crd *crd_of(const struct program *p, struct str kind)
{
	for (size_t i = 0; i < p->n_crds; i++)
		if (str_eq(crd_kind(p->crds[i]), kind))
			return p->crds[i];
	return NULL;
}

bool program_serves(void *cookie, const struct kind *k)
{
	const struct crd *crd = crd_of(cookie, k->id);

	return crd && crd_served(crd);
}

/* Says what became of them. */
static void report(struct program *p)
{
	for (size_t i = 0; i < p->n_crds; i++) {
		bool served = crd_served(p->crds[i]);

		if (!served)
			p->status = p->only_crds ? 1 : 0;
		log_write(served ? LOG_INFO : LOG_ERROR, FIELDS(F_STR("kind", crd_kind(p->crds[i]))), "%s%s%s",
		          served ? "served" : "not served", *crd_text(p->crds[i]) ? ": " : "", crd_text(p->crds[i]));
	}
}

/* Says what keeps a CRD waiting, once for each trouble. */
static void crd_says(struct program *p, size_t i)
{
	const char *text = crd_text(p->crds[i]);

	if (p->crd_said[i] && !strcmp(p->crd_said[i], text))
		return;
	free(p->crd_said[i]);
	p->crd_said[i] = xstrndup(text, strlen(text));
	if (*text)
		log_warn(FIELDS(F_STR("kind", crd_kind(p->crds[i]))), "its CRD: %s", text);
}

bool program_step_crds(struct program *p, msec *next)
{
	msec now = loop_now(p->loop);
	size_t n = 0;

	*next = NEVER;
	for (size_t i = 0; i < p->n_crds; i++) {
		struct crd_wish w = crd_next(p->crds[i], now);

		switch (w.type) {
		case CRD_SEND:
			program_call_crd(p, p->crds[i], &w.call);
			break;
		case CRD_SLEEP:
			crd_says(p, i);
			*next = MIN(*next, w.at - now);
			break;
		case CRD_BUSY:
			break;
		case CRD_DONE:
			n++;
			break;
		}
	}
	if (n == p->n_crds)
		report(p);
	return n == p->n_crds;
}

static void undo(struct program *p, struct crd **crds, size_t n)
{
	struct api_call call;

	for (size_t i = 0; p->flags->cleanup_on_exit && i < n; i++)
		if (crd_undo(crds[i], &call))
			program_call_undo(p, &call);
}

void program_undo_crds(struct program *p)
{
	undo(p, p->crds, p->n_crds);
	undo(p, p->made, p->n_made);
}
