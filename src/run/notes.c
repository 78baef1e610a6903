/* dljob run: what the machine could not give a pod, each once for the whole job, and lines of logs that are lost. */
#include "run/internal.h"

#include "local/pod/pod.h"

static void say_note(struct run *r, struct str who, struct str note)
{
	if (!note.n || map_get(&r->notes, note))
		return;
	note = arena_str(&r->cli->arena, note);
	map_put(&r->notes, note, r);
	run_say(r, "%.*s: %.*s", STR_F(who), STR_F(note));
}

void run_notes(struct run *r, const char *folder, struct str who)
{
	struct arena a = ARENA_INIT;
	struct pod_state s = { 0 };
	bool missing;

	if (pod_state_read(&s, &missing, folder, &a, NULL) && !missing) {
		for (size_t i = 0; !r->options->quiet && i < s.notes.n; i++)
			say_note(r, who, s.notes.v[i]);
		/* Whoever wants nothing but the logs wants to know that they are not whole. */
		for (size_t i = 0; i < s.containers.n; i++)
			say_note(r, who, s.containers.v[i].log_problem);
	}
	arena_release(&a);
}
