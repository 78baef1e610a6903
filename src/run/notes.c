/* dljob run: what the machine could not give a pod, each once for the whole job. */
#include "run/internal.h"

#include "local/pod/pod.h"

void run_notes(struct run *r, const char *folder, struct str who)
{
	struct arena a = ARENA_INIT;
	struct pod_state s = { 0 };
	bool missing;

	if (!r->options->quiet && pod_state_read(&s, &missing, folder, &a, NULL) && !missing) {
		for (size_t i = 0; i < s.notes.n; i++) {
			struct str note = s.notes.v[i];

			if (map_get(&r->notes, note))
				continue;
			note = arena_str(&r->cli->arena, note);
			map_put(&r->notes, note, r);
			run_say(r, "%.*s: %.*s", STR_F(who), STR_F(note));
		}
	}
	arena_release(&a);
}
