/* What runs already: the folders of before, each with its pod's object or without. */
#ifndef LOCAL_RUNNER_ADOPT_H
#define LOCAL_RUNNER_ADOPT_H

#include "local/runner/state.h"

bool adopt_all(struct runner *r, struct err *e);

#endif
