#include "kind/builtin.h"

#include "kind/kind.h"

bool kinds_load_builtin(struct kinds *k, struct err *e)
{
	for (size_t i = 0; i < n_builtins; i++)
		if (!kinds_load_text(k, str_c(builtins[i].file),
		                     (struct str){ (const char *)builtins[i].text, builtins[i].size }, e))
			return false;
	return true;
}
