/* What the server does not take, or we cannot make: what was said, and how long it stands. */
#include "operator/internal.h"

struct refused_child {
	uint64_t role; /* the hash of its name */
	enum resource resource;
	struct standing s;
};

bool refused_is_aux(const struct cached_job *job, struct str role_name)
{
	const struct role *role = job->parsed ? job_role(kind_job(job->parsed), role_name) : NULL;

	return role && role->aux;
}

static struct refused_child *find_standing(const struct cached_job *job, enum resource r, struct str role)
{
	uint64_t hash = str_hash(role);

	for (size_t i = 0; i < job->n_standing; i++)
		if (job->standing[i].resource == r && job->standing[i].role == hash)
			return &job->standing[i];
	return NULL;
}

/* At most two of each role, and the PodGroup's. */
static struct standing *standing_of(struct cached_job *job, enum resource r, struct str role)
{
	struct refused_child *c = find_standing(job, r, role);

	if (!c) {
		job->standing = xrealloc(job->standing, (job->n_standing + 1) * sizeof(*job->standing));
		c = &job->standing[job->n_standing++];
		*c = (struct refused_child){ .role = str_hash(role), .resource = r };
	}
	return &c->s;
}

void refused_take(struct op *op, struct cached_job *job, enum resource what, struct str role, enum refusal_kind kind,
                  struct str message)
{
	bool aux = refused_is_aux(job, role);
	struct refused *r;
	char *text;

	/* A batch is refused once, however many of it were. */
	if (job->refused_now[aux])
		return;
	job->refused_now[aux] = true;
	if (!job->refused[aux])
		job->refused[aux] = xcalloc(1, sizeof(*job->refused[aux]));
	r = job->refused[aux];
	text = xmalloc(message.n + role.n + 1);
	memcpy(text, str_text(message), message.n);
	memcpy(text + message.n, str_text(role), role.n);
	plan_refused(&r->refusal, standing_of(job, what, role), kind, (struct str){ text + message.n, role.n },
	             (struct str){ text, message.n }, op->now);
	r->what = what;
	free(r->text);
	r->text = text;
}

const struct refusal *refused_last(const struct cached_job *job, bool aux)
{
	static const struct refusal none;

	return job->refused[aux] ? &job->refused[aux]->refusal : &none;
}

void refused_over(struct cached_job *job, bool aux)
{
	if (job->refused[aux])
		job->refused[aux]->refusal = (struct refusal){ 0 };
}

void refused_not(struct cached_job *job, enum resource what, struct str role)
{
	struct refused_child *c = find_standing(job, what, role);

	if (c)
		*c = job->standing[--job->n_standing];
	/* Of one batch some may have been refused and others, later, taken. */
	for (int aux = 0; aux < 2; aux++) {
		struct refused *r = job->refused[aux];

		if (r && r->what == what && str_eq(r->refusal.role, role))
			r->refusal.tries = 0;
	}
}

void refused_passed(struct cached_job *job)
{
	const struct refusal *r = refused_last(job, false);

	refused_not(job, RES_POD, r->role);
	refused_not(job, RES_SERVICE, r->role);
	refused_over(job, false);
}

void refused_forget(struct cached_job *job)
{
	refused_over(job, false);
	refused_over(job, true);
	job->n_standing = 0;
}

void refused_release(struct cached_job *job)
{
	for (int aux = 0; aux < 2; aux++)
		if (job->refused[aux]) {
			str_free(job->refused[aux]->taken.name);
			free(job->refused[aux]->text);
			free(job->refused[aux]);
		}
	free(job->standing);
}
