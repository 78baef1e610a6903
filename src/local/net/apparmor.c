/* Ubuntu since 24.04: whoever makes a user namespace gets no rights in it, unless a profile of AppArmor allows them to
   the program. What people can do about it. */
#include "base/file.h"
#include "local/net/internal.h"

#include <unistd.h>

enum { PROGRAM_MAX = 256 };

/* Other characters mean something to the shell or in a profile: the command would do something else. */
#define PLAIN "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:=+_-"

void apparmor_note(struct net_world *w, const char *sysctl, const char *exe)
{
	CLEANUP(arena_release) struct arena a = ARENA_INIT;
	struct str text;
	char program[PROGRAM_MAX];
	ssize_t n;

	if (file_read(&text, sysctl, &a, NULL) != FILE_READ || !str_eq(str_trim(text), STR("1")))
		return;
	n = readlink(exe, program, sizeof(program));
	program[n > 0 && n < PROGRAM_MAX ? n : 0] = 0;
	if (program[0] == '/' && program[strspn(program, PLAIN)] == 0)
		net_note(w,
		         "AppArmor takes their rights from user namespaces here; until the next boot dljob has them "
		         "with: "
		         "echo 'abi <abi/4.0>, \"%s\" flags=(unconfined) { userns, }' | sudo apparmor_parser -r "
		         "(for good: docs/local.md, AppArmor)",
		         program);
	else
		net_note(w,
		         "AppArmor takes their rights from user namespaces here; until the next boot all programs have "
		         "them with: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0 "
		         "(for good: docs/local.md, AppArmor)");
}
