/* Which kinds dl-operator serves. */
#ifndef PROGRAM_KINDS_H
#define PROGRAM_KINDS_H

#include "kind/kind.h"
#include "program/flags.h"

/* Those that the flags choose and CHOOSE (if it is not NULL) lets pass. NULL, with one line, if a file is wrong
   or a name fits none. */
struct kinds *operator_kinds_load(const struct operator_flags *f, bool (*choose)(void *cookie, const struct kind *k),
                                  void *cookie, struct err *e);
/* Changes when a file in the folders of --kinds-dir does. */
uint64_t operator_kinds_hash(const struct operator_flags *f);

#endif
