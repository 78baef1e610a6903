/* Objects as rows for people: meta.k8s.io/v1 Table, with the columns that kubectl's users know, and those of the
   CRDs for custom types. */
#ifndef LOCAL_API_TABLE_H
#define LOCAL_API_TABLE_H

#include "base/clock.h"
#include "base/json.h"
#include "local/store/store.h"

struct api_table;

/* The columns of a type, as they are now. */
struct api_table *table_new(struct store *s, const struct store_type *t);
void table_free(struct api_table *t);

struct table_style {
	struct str include; /* what of each object stands in its row: None, Metadata or Object */
	msec now;           /* for ages */
	bool columns;       /* name the columns, too */
};
/* LIST: a list or an object, as the store answers it. Appends the Table. */
void table_write(const struct api_table *t, yyjson_val *list, const struct table_style *style, struct buf *out);
/* A Table without rows, for bookmarks. META: its metadata, as JSON. */
void table_write_empty(struct str meta, struct buf *out);

#endif
