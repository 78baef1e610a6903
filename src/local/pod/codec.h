/* Structs as JSON, by tables: a field is a name, a type and an offset. What is zero is not written; unknown names are
   ignored, so that a newer parent's state can be read. */
#ifndef LOCAL_POD_CODEC_H
#define LOCAL_POD_CODEC_H

#include "base/arena.h"
#include "base/err.h"

#include <yyjson.h>

enum codec_type { CODEC_STR, CODEC_BOOL, CODEC_INT, CODEC_ENUM, CODEC_STRS, CODEC_OBJECT, CODEC_LIST };

struct codec;
struct codec_field {
	const char *name;
	enum codec_type type;
	size_t offset;
	const struct codec *sub;  /* OBJECT, LIST (a VEC of it) */
	const char *const *names; /* ENUM: by value, NULL at the end */
};
struct codec {
	size_t size;
	const struct codec_field *fields;
	size_t n;
};

#define CODEC(type, table)                                                                                             \
	{                                                                                                              \
		sizeof(type), (table), ARRAY_LEN(table)                                                                \
	}
#define CODEC_S(type, field)                                                                                           \
	{                                                                                                              \
#field, CODEC_STR, offsetof(type, field), NULL, NULL                                                   \
	}
#define CODEC_B(type, field)                                                                                           \
	{                                                                                                              \
#field, CODEC_BOOL, offsetof(type, field), NULL, NULL                                                  \
	}
#define CODEC_I(type, field)                                                                                           \
	{                                                                                                              \
#field, CODEC_INT, offsetof(type, field), NULL, NULL                                                   \
	}
#define CODEC_E(type, field, names)                                                                                    \
	{                                                                                                              \
#field, CODEC_ENUM, offsetof(type, field), NULL, (names)                                               \
	}
#define CODEC_SS(type, field)                                                                                          \
	{                                                                                                              \
#field, CODEC_STRS, offsetof(type, field), NULL, NULL                                                  \
	}
#define CODEC_O(type, field, sub)                                                                                      \
	{                                                                                                              \
#field, CODEC_OBJECT, offsetof(type, field), &(sub), NULL                                              \
	}
#define CODEC_L(type, field, sub)                                                                                      \
	{                                                                                                              \
#field, CODEC_LIST, offsetof(type, field), &(sub), NULL                                                \
	}

yyjson_mut_val *codec_write(yyjson_mut_doc *doc, const struct codec *c, const void *from);
/* Texts are copied into A. False, with *E naming the field, if one has another type than it should. */
bool codec_read(const struct codec *c, void *ret, yyjson_val *from, struct arena *a, struct err *e);

#endif
