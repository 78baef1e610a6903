/* A name that is not there, found when the file is loaded and not when the line is reached: the
   compiled function is searched for globals that the sandbox does not have. */
#ifndef KIND_GLOBALS_H
#define KIND_GLOBALS_H

#include "kind/sandbox.h"

/* Looks through the function on top of the stack, which has its globals as first upvalue. */
bool globals_check(struct sandbox *sb, struct str file, struct err *e);

#endif
