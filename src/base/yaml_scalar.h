/* What a scalar of YAML 1.1 means, by the rules of go-yaml v2, which kubectl reads with. */
#ifndef BASE_YAML_SCALAR_H
#define BASE_YAML_SCALAR_H

#include "base/buf.h"

enum yaml_type { YAML_NULL, YAML_BOOL, YAML_INT, YAML_UINT, YAML_FLOAT, YAML_STRING };

struct yaml_scalar {
	enum yaml_type type;
	union {
		bool truth;
		int64_t number;
		uint64_t large; /* YAML_UINT: past int64 */
		double real;    /* may be infinite or no number: JSON has neither */
	};
};

/* A plain scalar: 12, yes, ~, hello. */
struct yaml_scalar yaml_plain(struct str text);
/* A scalar with an explicit tag (the long form, "tag:yaml.org,2002:int"). NULL, or why it cannot be.
   For !!binary *DATA holds the decoded bytes and the scalar is a string. */
const char *yaml_tagged(struct str tag, struct str text, struct yaml_scalar *ret, struct buf *data);
/* The scalar as a key of a JSON object, appended to OUT. NULL, or why it cannot be one. */
const char *yaml_key(const struct yaml_scalar *scalar, struct str text, struct buf *out);

#endif
