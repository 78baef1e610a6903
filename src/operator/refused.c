/* What the server does not take, or we cannot make: what was said, and how long it stands. It is kept for each sort and
   role: a quota that keeps workers out keeps nobody else out. */
#include "operator/internal.h"

bool refused_is_aux(const struct cached_job *job, struct str role_name)
{
	const struct role *role = job->parsed ? job_role(kind_job(job->parsed), role_name) : NULL;

	return role && role->aux;
}

struct child_refused *refused_find(const struct cached_job *job, enum resource what, struct str role)
{
	for (struct child_refused *r = job->refused; r; r = r->next)
		if (r->refusal.resource == what && str_eq(r->refusal.role, role))
			return r;
	return NULL;
}

static struct child_refused *find_or_add(struct cached_job *job, enum resource what, struct str role)
{
	struct child_refused *r = refused_find(job, what, role);

	if (r)
		return r;
	r = xcalloc(1, sizeof(*r) + role.n + 1);
	if (role.n)
		memcpy(r->role, role.p, role.n);
	r->refusal.resource = what;
	r->refusal.role = (struct str){ r->role, role.n };
	r->next = job->refused;
	job->refused = r;
	return r;
}

struct child_refused *refused_take(struct operator_loop *op, struct cached_job *job, enum resource what,
                                   struct str role, enum refusal_kind kind, struct str message)
{
	struct child_refused *r = find_or_add(job, what, role);
	char *text;

	/* A batch is refused once, however many of it were. */
	if (r->now)
		return r;
	r->now = true;
	text = xstrndup(str_text(message), message.n);
	plan_refused(&r->refusal, kind, (struct str){ text, message.n }, op->now);
	free(r->text);
	r->text = text;
	return r;
}

static void end_refusal(struct child_refused *r)
{
	r->refusal = (struct refusal){ .resource = r->refusal.resource, .role = r->refusal.role };
}

void refused_free_name(struct child_refused *r)
{
	if (r->refusal.kind == REFUSED_FOREIGN)
		end_refusal(r);
}

bool refused_any(const struct cached_job *job)
{
	for (const struct child_refused *r = job->refused; r; r = r->next)
		if (r->now)
			return true;
	return false;
}

void refused_made(struct cached_job *job, enum resource what, struct str role)
{
	struct child_refused *r = refused_find(job, what, role);

	if (!r)
		return;
	r->made = true;
	/* Of one batch some may have been refused and others, later, taken: the rest is waited for, and that it is
	   refused begins anew. */
	r->refusal.tries = 0;
}

void refused_settle(struct cached_job *job)
{
	for (struct child_refused *r = job->refused; r; r = r->next) {
		if (r->made && !r->now)
			end_refusal(r);
		r->made = r->now = false;
	}
}

size_t refused_list(const struct cached_job *job, struct arena *a, const struct refusal **ret)
{
	struct refusal *list;
	size_t n = 0;

	for (const struct child_refused *r = job->refused; r; r = r->next)
		n++;
	*ret = list = arena_array(a, struct refusal, MAX(n, (size_t)1));
	n = 0;
	for (const struct child_refused *r = job->refused; r; r = r->next)
		list[n++] = r->refusal;
	return n;
}

void refused_passed(struct cached_job *job, const bool *passed)
{
	size_t n = 0;

	for (struct child_refused *r = job->refused; r; r = r->next)
		if (passed[n++])
			end_refusal(r);
}

static void free_refused(struct child_refused *r)
{
	str_free(r->taken.name);
	free(r->text);
	free(r);
}

/* Roles may be others from now on. One of the running pass, or whose name is waited for, is needed on. */
void refused_forget(struct cached_job *job)
{
	struct child_refused **at = &job->refused, *r;

	while ((r = *at)) {
		end_refusal(r);
		if (r->now || r->made || r->taken.job) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		free_refused(r);
	}
}

void refused_release(struct cached_job *job)
{
	free(job->undeleted);
	for (struct child_refused *r = job->refused, *next; r; r = next) {
		next = r->next;
		free_refused(r);
	}
}
