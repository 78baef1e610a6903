/* The tree that the YAML reader makes before there is JSON. Aliases share the node that they name, so a
   small file stays small here whatever its aliases expand to; and it keeps the positions. */
#ifndef BASE_YAML_NODE_H
#define BASE_YAML_NODE_H

#include "base/yaml.h"
#include "base/yaml_scalar.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	uint16_t height;       /* of what is nested in it; a scalar's is 0 */
	bool open;             /* its end has not come yet */
	uint32_t nodes, bytes; /* with all aliases expanded, itself included */
	union {
		struct {
			struct yaml_item *first;
			size_t n;
		};
		struct {
			struct yaml_scalar value;
			struct str text; /* of strings, gone once there is JSON; of numbers */
		};
	};
};

struct yaml_item {
	struct yaml_item *next;
	struct yaml_node *node;
	struct str key;        /* in maps */
	uint32_t line, column; /* of the key, in lists of the value; from 1 */
};

typedef VEC(struct yaml_item) yaml_roots;

/* Reads TEXT into nodes and items from TREE, the text of scalars from TEXTS; one root for each
   document that is not null. False with *E, "FILE:line:column: reason". */
bool yaml_compose(struct str file, struct str text, struct arena *tree, struct arena *texts, yaml_roots *roots,
                  struct err *e);

/* Settles the items of a map: a key that stands twice is refused, keys from MERGES (the values of its
   "<<" keys, in order) are added where the map has none of its own. NULL, or the item at fault with
   *REASON (from TREE). */
const struct yaml_item *yaml_settle_map(struct yaml_node *map, const struct yaml_item *merges, struct arena *tree,
                                        const char **reason);

/* Where PATH, or the nearest thing around it, stands below ROOT; see yaml_where. */
struct yaml_pos yaml_find(const struct yaml_item *root, struct str path);
/* The number at PATH; see yaml_number. */
struct str yaml_find_number(const struct yaml_item *root, struct str path);

#endif
