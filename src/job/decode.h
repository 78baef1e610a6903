/* JSON objects into structures by tables of name, type and offset; whatever does not fit becomes a
   problem that names the field. */
#ifndef JOB_DECODE_H
#define JOB_DECODE_H

#include "job/policy.h"

/* The values of an enum as users write them, in the order of the enum. */
struct decode_names {
	const char *const *v;
	size_t n;
};

extern const struct decode_names restart_policy_names, scope_names, role_end_names, job_end_names, clean_names,
	service_type_names;

/* One walk through one document. */
struct decode {
	struct problems *p;
	struct policy_place at;
	bool by_kind; /* may use kinds-only fields; an empty list (Lua's empty table) is an empty object */
	bool made_up; /* by the kind: its values are none of the user's, unless the kind says what they are called */
};

/* A field on the way down from the document's root. */
struct decode_spot {
	const struct decode_spot *up;
	struct str name;
};

enum decode_field_type {
	FIELD_BOOL,
	FIELD_INT32,
	FIELD_INT64,
	FIELD_STR,
	FIELD_ENUM,
	FIELD_VAL,   /* kept as it is */
	FIELD_TABLE, /* an object; its fields go into the same structure */
	FIELD_READ,  /* a function reads it */
};

enum decode_field_who { FIELD_OF_ALL, FIELD_OF_KINDS, FIELD_OF_USERS };

struct decode_table;

struct decode_field {
	const char *name;
	enum decode_field_type type;
	enum decode_field_who who;
	size_t offset;
	unsigned said;                    /* the bit that is set once it was read */
	int64_t min, max;                 /* INT32, INT64 */
	const struct decode_names *names; /* ENUM */
	const struct decode_table *table; /* TABLE */
	bool (*read)(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s); /* READ */
};

struct decode_table {
	const struct decode_field *v;
	size_t n;
};

#define TABLE_OF(fields)                                                                                               \
	{                                                                                                              \
		(fields), ARRAY_LEN(fields)                                                                            \
	}

/* What a policy document may say, by enum policy_level. */
extern const struct decode_table policy_tables[2];
/* schedulingPolicy, of a struct policy. */
extern const struct decode_table scheduling_table;

/* What is said of the companion that has the field's name, into a struct policy (companion.c). */
bool companion_read(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s);

/* Reads VAL into BASE, whose first member is `unsigned said`. Null fields are not said. */
void decode_object(const struct decode *d, const struct decode_table *t, yyjson_val *val, void *base,
                   const struct decode_spot *up);

/* The value's number in NAMES; a problem that lists them, with the nearest, if it is none. */
bool decode_enum(const struct decode *d, yyjson_val *val, const struct decode_names *names, unsigned *ret,
                 const struct decode_spot *s);

/* Has T, for a kind, the field KEY ("restart.policy")? What a function reads may have any fields. */
bool decode_has_key(const struct decode_table *t, struct str key);

/* Says, of a problem that was put among the others already, that it is the kind's: MESSAGE, and the WORD that shows it
   in the kind's file. Only the first is kept. */
void decode_blame(struct problems *p, struct policy_place at, struct str word, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The path of a field, for problems. */
struct str spot_path(const struct decode *d, const struct decode_spot *s);

/* For messages: at most 40 bytes of what a user wrote, nothing that moves a cursor. */
struct str text_shown(struct str s, struct arena *a);
/* The nearest of CANDIDATES, or the empty slice if none is near. */
struct str text_nearest(struct str s, const struct str *candidates, size_t n);
/* "a, b or c" */
struct str text_list(const struct str *v, size_t n, struct arena *a);
/* `; did you mean "x"?`; where nothing is near `; PREFIX a, b or c`, or nothing without a PREFIX. */
struct str text_hint(struct str s, const char *prefix, const struct str *candidates, size_t n, struct arena *a);

#endif
