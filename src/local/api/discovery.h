/* What the API serves, as clients ask for it at their start. Each appends a JSON document. */
#ifndef LOCAL_API_DISCOVERY_H
#define LOCAL_API_DISCOVERY_H

#include "local/api/accept.h"
#include "local/store/store.h"

void discovery_paths(struct buf *b, const struct store *s);
void discovery_core(struct buf *b);
void discovery_groups(struct buf *b, const struct store *s);
void discovery_group(struct buf *b, const struct store *s, struct str group);
void discovery_resources(struct buf *b, const struct store *s, struct str group, struct str version);
/* Everything in one. CORE: the group without a name, else all others. */
void discovery_all(struct buf *b, const struct store *s, bool core, enum accept_form form);
/* SERVER: behind Kubernetes' own number. */
void discovery_version(struct buf *b, const char *server);

/* Does T stand for its group and version: is it the first of them? And for its group, in the version that is to be
   preferred? */
bool discovery_is_first(const struct store *s, const struct store_type *t);
/* "v1", "apis/mlkube.io/v1beta1" …: the path of a group and version without a slash in front. */
void discovery_path(struct buf *b, const struct store_type *t);

#endif
