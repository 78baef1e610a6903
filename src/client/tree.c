#include "client/tree.h"

#include "cluster/decode.h"
#include "term/table.h"
#include "term/plain.h"

enum tree_column { TREE_REPLICA, TREE_STATE, TREE_RESTARTS, TREE_EXIT, TREE_NODE, TREE_POD, TREE_WHY, TREE_COLUMNS };
/* A role with more replicas than MANY shows the first FEW, and those that are in trouble. */
enum { MANY = 32, FEW = 4 };

struct row {
	struct str cell[TREE_COLUMNS];
};

struct rows {
	struct arena *arena;
	VEC(struct row) list;
};

/* All containers have ended; the pod's phase follows a moment later. */
static bool has_ended(const struct pod *p)
{
	bool any = false;

	for (size_t i = 0; i < p->n_containers; i++) {
		if (p->containers[i].init)
			continue;
		any = true;
		if (p->containers[i].state != CONTAINER_TERMINATED)
			return false;
	}
	return any;
}

struct str pod_state(const struct pod *p)
{
	struct str reason;

	if (p->meta.deleted)
		return STR("Terminating");
	switch (p->phase) {
	case POD_SUCCEEDED:
		return STR("Succeeded");
	case POD_FAILED:
		return p->reason.n ? p->reason : STR("Failed");
	case POD_RUNNING:
	case POD_PENDING:
		for (size_t i = 0; i < p->n_containers; i++)
			if (p->containers[i].state == CONTAINER_WAITING && p->containers[i].reason.n &&
			    !str_eqc(p->containers[i].reason, "ContainerCreating") &&
			    !str_eqc(p->containers[i].reason, "PodInitializing"))
				return p->containers[i].reason;
		if (has_ended(p))
			return pod_exit(p, &reason) > 0 ? STR("Failed") : STR("Succeeded");
		if (p->phase == POD_RUNNING)
			return p->ready ? STR("Running") : STR("NotReady");
		return p->node.n ? STR("Creating") : STR("Unscheduled");
	case POD_UNKNOWN:
		break;
	}
	return STR("Unknown");
}

int32_t pod_exit(const struct pod *p, struct str *reason)
{
	const struct container *best = NULL;

	for (size_t i = 0; i < p->n_containers; i++) {
		const struct container *c = &p->containers[i];

		if (c->state != CONTAINER_TERMINATED)
			continue;
		if (!best || (!best->exit_code && (c->exit_code || (best->init && !c->init))))
			best = c;
	}
	/* An init container that has done its work says nothing about the pod. */
	if (!best || (best->init && !best->exit_code))
		return -1;
	*reason = best->reason;
	return best->exit_code;
}

static struct str exit_text(struct arena *a, const struct pod *p)
{
	struct str reason;
	int32_t code = pod_exit(p, &reason);

	if (code < 0)
		return STR_NONE;
	if (!reason.n || str_eqc(reason, "Error") || str_eqc(reason, "Completed"))
		return arena_printf(a, "%d", code);
	return arena_printf(a, "%d %.*s", code, STR_F(reason));
}

static struct str why(const struct pod *p)
{
	if (p->message.n)
		return p->message;
	for (size_t i = 0; i < p->n_containers; i++)
		if (p->containers[i].message.n && p->containers[i].state != CONTAINER_RUNNING)
			return p->containers[i].message;
	return STR_NONE;
}

/* A replica that has no pod. */
static struct str absent_state(const struct tree *t, const struct record_role *rr, int32_t index)
{
	if (rr && ranges_has(&rr->completed, index))
		return STR("Succeeded");
	if (rr && ranges_has(&rr->failed, index))
		return STR("Failed");
	if (t->record && t->record->suspended)
		return STR("Suspended");
	if (t->record && phase_final(t->record->phase))
		return STR("Gone");
	return STR("NoPod");
}

static const struct pod *pod_of(const struct tree *t, const struct role *role, int32_t index)
{
	const struct pod *found = NULL;

	for (size_t i = 0; i < t->n_pods; i++) {
		const struct pod *p = &t->pods[i];

		if (p->index == index && str_eq(p->role, role->name) && (!found || p->generation > found->generation))
			found = p;
	}
	return found;
}

static bool is_dull(struct str state)
{
	return str_eqc(state, "Running") || str_eqc(state, "Succeeded");
}

/* One that the operator has not met yet has the number of who left before it, and nothing of what that did. */
static int64_t restarts_of(const struct tree *t, const struct role *role, int32_t index, const struct pod *p)
{
	const struct record_role *rr = t->record ? record_role_of(t->record, role->name) : NULL;

	if (!rr)
		return p ? p->generation : 0;
	if (!p && rr->count >= 0 && index >= rr->count && !role->aux)
		return 0;
	return record_replica_restarts(t->record, role, rr, index);
}

/* The code that the restart under way is for; -1: it is for somebody else's, or nobody knows. */
static int32_t restarted_exit(const struct record *r, struct str role, int32_t index)
{
	const struct restart_note *note;

	for (size_t i = 0; (note = record_restart(r, i)); i++) {
		if (note->index == index && str_eq(note->role, role))
			return note->exit_code;
		if (note->scope == SCOPE_JOB || (note->scope == SCOPE_ROLE && str_eq(note->role, role)))
			break;
	}
	return -1;
}

/* How the attempt ended whose pod is gone: for good, or before a restart. */
static struct str absent_exit(const struct tree *t, struct arena *a, const struct role *role, int32_t index)
{
	const struct record_role *rr = t->record ? record_role_of(t->record, role->name) : NULL;
	const struct restart_level *own = rr ? record_index_level(rr, index) : NULL;
	int32_t code = -1;

	if (!rr || index >= rr->count)
		return STR_NONE;
	if (ranges_has(&rr->completed, index))
		code = 0;
	else if (ranges_has(&rr->failed, index))
		code = own && own->exit_code ? own->exit_code : -1;
	else if (!t->record->suspended && !phase_final(t->record->phase))
		code = restarted_exit(t->record, role->name, index);
	return code >= 0 ? arena_printf(a, "%d", code) : STR_NONE;
}

static struct row replica_row(const struct tree *t, struct arena *a, const struct role *role, int32_t index)
{
	const struct record_role *rr = t->record ? record_role_of(t->record, role->name) : NULL;
	const struct pod *p = pod_of(t, role, index);
	struct row row = { 0 };

	row.cell[TREE_REPLICA] = arena_printf(a, "%.*s-%d", STR_F(role->name), index);
	row.cell[TREE_STATE] = p ? pod_state(p) : absent_state(t, rr, index);
	row.cell[TREE_RESTARTS] = arena_printf(a, "%lld", (long long)restarts_of(t, role, index, p));
	if (p) {
		row.cell[TREE_EXIT] = exit_text(a, p);
		row.cell[TREE_NODE] = p->node;
		row.cell[TREE_POD] = p->meta.name;
		row.cell[TREE_WHY] = why(p);
	} else {
		row.cell[TREE_EXIT] = absent_exit(t, a, role, index);
	}
	return row;
}

static void add_branch(struct rows *rows, struct row row, bool last)
{
	row.cell[TREE_REPLICA] =
		arena_printf(rows->arena, "%s %.*s", last ? "└─" : "├─", STR_F(row.cell[TREE_REPLICA]));
	*vec_push(rows->arena, &rows->list) = row;
}

static struct str role_title(const struct tree *t, const struct role *role, struct arena *a)
{
	const struct record_role *rr = t->record ? record_role_of(t->record, role->name) : NULL;
	struct role_counts c = rr ? rr->now : (struct role_counts){ 0 };

	/* It is not counted. */
	if (role->aux)
		return STR_NONE;
	return arena_printf(a, "%d/%d", c.active + c.succeeded, role->count);
}

static void add_role(const struct tree *t, struct rows *rows, const struct role *role)
{
	VEC(struct row) shown = { 0 };
	int32_t running = 0, succeeded = 0;
	struct arena *a = rows->arena;
	bool rest;

	*vec_push(a, &rows->list) =
		(struct row){ { [TREE_REPLICA] = role->name, [TREE_STATE] = role_title(t, role, a) } };
	for (int32_t i = 0; i < role->count; i++) {
		struct row row = replica_row(t, a, role, i);

		if (role->count > MANY && i >= FEW && is_dull(row.cell[TREE_STATE])) {
			running += str_eqc(row.cell[TREE_STATE], "Running");
			succeeded += str_eqc(row.cell[TREE_STATE], "Succeeded");
			continue;
		}
		*vec_push(a, &shown) = row;
	}
	/* On their way out: more than the job wants now. */
	for (size_t i = 0; i < t->n_pods; i++)
		if (str_eq(t->pods[i].role, role->name) && t->pods[i].index >= role->count)
			*vec_push(a, &shown) = replica_row(t, a, role, t->pods[i].index);
	rest = running || succeeded;
	for (size_t i = 0; i < shown.n; i++)
		add_branch(rows, shown.v[i], !rest && i + 1 == shown.n);
	if (rest)
		add_branch(rows,
		           (struct row){ { [TREE_REPLICA] = arena_printf(a, "%d more", running + succeeded),
		                           [TREE_STATE] = running && succeeded
		                                                  ? arena_printf(a, "%d Running, %d Succeeded", running,
		                                                                 succeeded)
		                                          : running ? STR("Running")
		                                                    : STR("Succeeded") } },
		           true);
}

/* Blanks at the end of a line help nobody. */
static void print_row(const struct table *table, const struct row *row, bool branch, FILE *to)
{
	struct table t = *table;

	while (t.columns > 1 && str_empty(row->cell[t.columns - 1]))
		t.columns--;
	/* A role has only its name and a count. */
	if (!branch)
		t.columns = MIN(t.columns, (size_t)2);
	table_print(&t, row->cell, to);
}

static void print_rows(const struct rows *rows, FILE *to)
{
	static const struct row head = { { STR_INIT("REPLICA"), STR_INIT("STATE"), STR_INIT("RESTARTS"),
		                           STR_INIT("EXIT"), STR_INIT("NODE"), STR_INIT("POD"), STR_INIT("WHY") } };
	struct table table = { .columns = TREE_COLUMNS };
	bool any_why = false;

	table_fit(&table, head.cell);
	for (size_t i = 0; i < rows->list.n; i++) {
		table_fit(&table, rows->list.v[i].cell);
		any_why |= !str_empty(rows->list.v[i].cell[TREE_WHY]);
	}
	table.columns = any_why ? TREE_COLUMNS : TREE_COLUMNS - 1;
	table_print(&table, head.cell, to);
	for (size_t i = 0; i < rows->list.n; i++)
		print_row(&table, &rows->list.v[i], rows->list.v[i].cell[TREE_RESTARTS].n > 0, to);
}

static void print_last_restart(const struct tree *t, struct arena *a, FILE *to)
{
	const struct restart_note *last = &t->record->last;
	struct str age = age_text(a, last->at, t->now);

	fprintf(to, "restarts: %d", t->record->restarts);
	if (last->at) {
		fprintf(to, "; the last %.*s ago: ", STR_F(age));
		if (last->role.n)
			plain_printf(to, "%.*s-%d ", STR_F(last->role), last->index);
		fputs(cause_name(last->cause), to);
		if (last->exit_code >= 0)
			fprintf(to, ", exit code %d", last->exit_code);
		fprintf(to, ", scope %s", scope_name(last->scope));
	}
	fputc('\n', to);
}

static void print_head(const struct tree *t, struct arena *a, FILE *to)
{
	struct job_view v = job_view(t->root);
	struct str age = age_text(a, v.created, t->now);

	plain_printf(to, "%.*s %.*s in namespace %.*s, %.*s old\n", STR_F(t->kind), STR_F(v.name), STR_F(v.ns),
	             STR_F(age.n ? age : STR("?")));
	plain_printf(to, "%.*s%s%.*s\n", STR_F(v.state), v.reason.n ? ": " : "", STR_F(v.reason));
	if (t->record && t->record->restarts)
		print_last_restart(t, a, to);
	for (enum companion_id i = 0; t->record && i < COMPANION_COUNT; i++)
		if (t->record->addresses[i].n)
			plain_printf(to, "%s: %.*s\n", companion_type(i)->name, STR_F(t->record->addresses[i]));
	for (size_t i = 0; i < t->job->problems.list.n; i++) {
		const struct problem *p = &t->job->problems.list.v[i];

		if (p->severity == PROBLEM_ERROR)
			plain_printf(to, "  %.*s: %.*s\n", STR_F(p->path), STR_F(p->message));
	}
}

static void note_row(const struct tree *t, struct arena *a, const struct restart_note *note, struct str row[static 7])
{
	char ran[AGE_TEXT];

	row[0] = age_text(a, note->at, t->now);
	row[1] = note->role.n ? arena_printf(a, "%.*s-%d", STR_F(note->role), note->index) : STR_NONE;
	row[2] = str_c(cause_name(note->cause));
	row[3] = note->exit_code >= 0 ? arena_printf(a, "%d", note->exit_code) : STR_NONE;
	row[4] = note->node;
	row[5] = note->ran ? arena_str(a, str_c(age_format(note->ran, ran))) : STR_NONE;
	row[6] = str_c(scope_name(note->scope));
}

/* Where there was one, the head has told it. */
static void print_restarts(const struct tree *t, struct arena *a, FILE *to)
{
	static const struct str head[] = { STR_INIT("AGO"),  STR_INIT("REPLICA"), STR_INIT("CAUSE"), STR_INIT("EXIT"),
		                           STR_INIT("NODE"), STR_INIT("RAN"),     STR_INIT("SCOPE") };
	struct table table = { .columns = ARRAY_LEN(head) };
	struct str row[ARRAY_LEN(head)];

	if (!t->record || !t->record->n_earlier)
		return;
	table_fit(&table, head);
	for (size_t i = 0; record_restart(t->record, i); i++) {
		note_row(t, a, record_restart(t->record, i), row);
		table_fit(&table, row);
	}
	fputs("\nLast restarts:\n", to);
	table_print(&table, head, to);
	for (size_t i = 0; record_restart(t->record, i); i++) {
		note_row(t, a, record_restart(t->record, i), row);
		table_print(&table, row, to);
	}
}

static void print_events(const struct tree *t, struct arena *a, FILE *to)
{
	struct table table = { .columns = 5 };

	for (int print = 0; print < 2; print++) {
		for (size_t i = 0; i < t->n_events; i++) {
			const struct tree_event *e = &t->events[i];
			struct str age = age_text(a, e->at, t->now);
			const struct str row[] = {
				e->count > 1 ? arena_printf(a, "%.*s (%lld times)", STR_F(age), (long long)e->count)
					     : arena_printf(a, "%.*s", STR_F(age)),
				e->warning ? STR("Warning") : STR("Normal"),
				e->reason,
				e->object.n ? e->object : STR("job"),
				e->message,
			};

			if (print)
				table_print(&table, row, to);
			else
				table_fit(&table, row);
		}
		if (!print && t->n_events)
			fputs("\nLast events:\n", to);
	}
}

void tree_print(const struct tree *t, struct arena *a, FILE *to)
{
	struct rows rows = { .arena = a };

	print_head(t, a, to);
	for (size_t i = 0; i < t->job->n_roles; i++)
		add_role(t, &rows, &t->job->roles[i]);
	if (rows.list.n) {
		fputc('\n', to);
		print_rows(&rows, to);
	}
	print_restarts(t, a, to);
	print_events(t, a, to);
}

void tree_take_pods(struct tree *t, struct arena *a, yyjson_val *const *pods, size_t n)
{
	t->pods = arena_array(a, struct pod, n);
	t->n_pods = 0;
	for (size_t i = 0; i < n; i++)
		if (decode_pod(&t->pods[t->n_pods], pods[i], a, NULL))
			t->n_pods++;
}

/* What an event is about: the job itself, one of its pods, or something else (false). */
static bool is_ours(const struct tree *t, struct arena *a, yyjson_val *about, struct str *object)
{
	struct str uid = json_str(json_get(about, "uid")), name = json_str(json_get(about, "name"));

	*object = STR_NONE;
	if (uid.n && str_eq(uid, job_view(t->root).uid))
		return true;
	if (!str_eqc(json_str(json_get(about, "kind")), "Pod"))
		return false;
	for (size_t i = 0; i < t->n_pods; i++) {
		const struct pod *p = &t->pods[i];

		if (!str_eq(name, p->meta.name))
			continue;
		*object = p->role.n ? arena_printf(a, "%.*s-%d", STR_F(p->role), p->index) : p->meta.name;
		return true;
	}
	return false;
}

static msec event_time(yyjson_val *e)
{
	static const char *const fields[] = { "lastTimestamp", "eventTime", "firstTimestamp" };
	msec at = 0;

	for (size_t i = 0; i < ARRAY_LEN(fields) && !at; i++)
		time_parse(json_str(json_get(e, fields[i])), &at);
	if (!at)
		time_parse(json_str(json_at(e, "metadata", "creationTimestamp", NULL)), &at);
	return at;
}

void tree_take_events(struct tree *t, struct arena *a, yyjson_val *const *events, size_t n)
{
	struct tree_event *kept = arena_array(a, struct tree_event, TREE_EVENTS + 1);
	size_t n_kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct tree_event e = { .at = event_time(events[i]),
			                .count = 1,
			                .warning = str_eqc(json_str(json_get(events[i], "type")), "Warning"),
			                .reason = json_str(json_get(events[i], "reason")),
			                .message = str_trim(json_str(json_get(events[i], "message"))) };
		size_t at = n_kept;

		if (!is_ours(t, a, json_get(events[i], "involvedObject"), &e.object))
			continue;
		json_int(json_get(events[i], "count"), &e.count);
		/* The oldest first; what is too old falls out in front. */
		for (; at > 0 && e.at < kept[at - 1].at; at--)
			kept[at] = kept[at - 1];
		kept[at] = e;
		if (++n_kept > TREE_EVENTS)
			memmove(kept, kept + 1, --n_kept * sizeof(*kept));
	}
	t->events = kept;
	t->n_events = n_kept;
}
