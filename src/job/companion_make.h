/* Inside src/job: how one sort of companion is made. */
#ifndef JOB_COMPANION_MAKE_H
#define JOB_COMPANION_MAKE_H

#include "job/decode.h"

/* The policy of one companion where it may be said: by the user, by the kind's own fields, by the kind's defaults. */
struct companion_docs {
	const struct companion_make *make;
	const struct policy *user, *own, *by_default;
	struct problems *p;
};

struct companion_make {
	struct companion_type type;
	const char *image;          /* unless somebody says another */
	struct decode_table fields; /* its policy: of a struct companion_policy, COMPANION_FIELDS among them */
	/* What its annotation says. */
	struct str (*annotation)(const struct companion_policy *c);
	/* Its command: the elements of a JSON array. */
	void (*put_command)(struct buf *out, const struct companion_policy *c);
	/* What is wrong with the fields that are its own. */
	void (*check)(const struct companion_policy *c, const struct companion_docs *docs);
};

extern const struct companion_make companion_tensorboard;

/* The path of the field of that bit (0: of the companion itself): where somebody said it, else where it would stand. */
struct str companion_path(const struct companion_docs *docs, unsigned said);
/* Is there a problem with the field of that bit already? */
bool companion_is_told(const struct companion_docs *docs, unsigned said);

/* What every companion can say. */
enum companion_field {
	COMPANION_IMAGE = 1 << 0,
	COMPANION_VOLUMES = 1 << 1,
	COMPANION_MOUNTS = 1 << 2,
	COMPANION_SERVICE = 1 << 3,
	COMPANION_TTL = 1 << 4,
	COMPANION_OWN = 1 << 5, /* the first bit for one of its own */
};

bool companion_read_volumes(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s);
bool companion_read_mounts(const struct decode *d, yyjson_val *val, void *base, const struct decode_spot *s);

/* clang-format off */
#define COMPANION_AT(member) .offset = offsetof(struct companion_policy, member)
#define COMPANION_FIELDS                                                                                               \
	{ "image", FIELD_STR, COMPANION_AT(image), .said = COMPANION_IMAGE },                                          \
	{ "volumes", FIELD_READ, COMPANION_AT(volumes), .said = COMPANION_VOLUMES, .read = companion_read_volumes },   \
	{ "volumeMounts", FIELD_READ, COMPANION_AT(mounts), .said = COMPANION_MOUNTS, .read = companion_read_mounts }, \
	{ "serviceType", FIELD_ENUM, COMPANION_AT(service), .said = COMPANION_SERVICE, .names = &service_type_names }, \
	{ "ttlSecondsAfterFinished", FIELD_INT64, COMPANION_AT(ttl), .said = COMPANION_TTL, .max = INT32_MAX }
/* clang-format on */

#endif
