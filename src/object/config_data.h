/* What ConfigMaps and Secrets hold: strings, and nothing that YAML makes a number or a boolean of. A pod would get such
   a value empty. */
#ifndef OBJECT_CONFIG_DATA_H
#define OBJECT_CONFIG_DATA_H

#include "base/json.h"

struct config_fault {
	struct str path, message; /* data.LR: must be a string, found a number: quote it */
};

/* The first MAX values of the ConfigMap or Secret that are no strings; returns how many it put into RET. In A. */
size_t config_faults(yyjson_val *object, struct arena *a, struct config_fault *ret, size_t max);

#endif
