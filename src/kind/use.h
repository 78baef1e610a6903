/* What several kinds share: the files of kinds/lib, compiled in. */
#ifndef KIND_USE_H
#define KIND_USE_H

#include <lua.h>

#include "base/util.h"

/* use(name): runs that file and returns its table. Each kind that uses it gets one of its own: what one changes, no
   other sees. It runs within the limits of the call that uses it. */
int use_lib(lua_State *L);

#endif
