/*
 * Who an object is, read from its JSON as it goes by: for one that is too large to be held, or no JSON after all.
 * Nothing of it is kept but a few short fields, wherever they stand in it.
 */
#ifndef KUBE_SKIM_H
#define KUBE_SKIM_H

#include "base/str.h"

enum skim_field {
	SKIM_TYPE, /* of an event */
	SKIM_NAME,
	SKIM_NAMESPACE,
	SKIM_UID,
	SKIM_VERSION,
	SKIM_JOB,   /* the job that its label names */
	SKIM_OWNER, /* the UID of its owner; of several the one that SKIM_JOB names, if it is among them */
	SKIM_COUNT
};

/* In which part of the object we are, as far as that matters. */
enum skim_place {
	SKIM_OUTSIDE,
	SKIM_IN_EVENT,
	SKIM_IN_OBJECT,
	SKIM_IN_METADATA,
	SKIM_IN_LABELS,
	SKIM_IN_OWNERS,
	SKIM_IN_OWNER,
};

/* Longer than any name, UID or label's key. */
enum { SKIM_TEXT = 320 };

struct skim_text {
	char p[SKIM_TEXT];
	size_t n;
	bool odd; /* too long, or with an escape: nothing that we look for */
};

struct skim {
	bool event;               /* a line of a watch: {"type":…,"object":{…}} */
	enum skim_place place[6]; /* the containers that we are in … */
	size_t depth;             /* … the last one is the innermost */
	size_t below;             /* containers in it that are of no interest */
	bool in_string, escaped;
	bool value; /* a key was read, and a colon */
	struct skim_text key, word;
	struct skim_text fields[SKIM_COUNT];
};

struct skim skim_make(bool event);
/* The next piece of its text, however it was cut. */
void skim_read(struct skim *s, struct str piece);
/* Empty: it is not known. Valid as long as S. */
struct str skim_get(const struct skim *s, enum skim_field f);

#endif
