/* Which jobs are kept as trees. Most jobs most of the time are not looked at: they are kept as text, a
   tenth of the size, and read again when something happens to them. */
#include "operator/internal.h"

#include "base/json.h"
#include "base/list.h"
#include "operator/copy.h"

static void unlink_open(struct operator_loop *op, struct cached_job *job)
{
	deque_drop(&op->open_first, &op->open_last, job);
	op->n_open--;
}

static void fold(struct operator_loop *op, struct cached_job *job)
{
	unlink_open(op, job);
	job->text = copy_text(yyjson_doc_get_root(job->doc));
	kind_job_free(job->parsed);
	if (job->source != job->doc)
		yyjson_doc_free(job->source);
	yyjson_doc_free(job->doc);
	arena_release(&job->arena);
	job->parsed = NULL;
	job->source = job->doc = NULL;
	job->record = NULL;
	job->bare = NULL;
}

void open_job(struct operator_loop *op, struct cached_job *job)
{
	struct cached_job *old, *prev;

	if (job->doc) {
		unlink_open(op, job);
	} else {
		/* As leniently as it was read at first: a server may say a key twice. */
		job->doc = yyjson_read(job->text.p, job->text.n, 0);
		ASSERT(job->doc);
		str_free(job->text);
		job->text = STR_NONE;
	}
	deque_push(&op->open_first, &op->open_last, job);
	op->n_open++;
	for (old = op->open_last; old && op->n_open > op->config.jobs_open; old = prev) {
		prev = old->prev;
		if (old != job && !old->in_flight)
			fold(op, old);
	}
}

void open_forget(struct operator_loop *op, struct cached_job *job)
{
	if (job->doc)
		unlink_open(op, job);
}
