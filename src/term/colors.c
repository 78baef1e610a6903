#include "term/colors.h"

#include <stdlib.h>
#include <unistd.h>

bool colors_wanted(FILE *to)
{
	const char *none = getenv("NO_COLOR");

	return isatty(fileno(to)) && !(none && *none);
}
