/* Problems as compilers print them: file:line:column: error: field: message. */
#ifndef CLIENT_REPORT_H
#define CLIENT_REPORT_H

#include "client/manifest.h"

#include <stdio.h>

struct job_edits;
struct cli_report {
	FILE *to;
	bool colors;
	size_t errors, warnings;
	enum unknown_fields unknown; /* in what is reported beside jobs: cli_unknown_fields() */
	const struct job_edits
		*edits; /* that were made to the jobs: what comes of them is no line of a file; may be NULL */
};

/* Colours only where TO is a terminal and NO_COLOR is not set. */
struct cli_report report_to(FILE *to);

enum report_level { REPORT_ERROR, REPORT_WARNING, REPORT_NOTE };

/* One line; FIELD may be empty, POS unknown. Counts it. */
void report_line(struct cli_report *r, enum report_level level, const char *file, struct yaml_pos pos, struct str field,
                 struct str message);
/* Opens a file, to be closed with yaml_close(). False: it cannot be read, and it was reported why. */
bool report_open(struct cli_report *r, const char *file, const struct kinds *kinds, struct arena *a,
                 struct manifest *ret);
/* What manifest_next() said of an object that is no job. */
void report_object(struct cli_report *r, const char *file, const struct manifest *m, const struct manifest_object *o);
/* What Kubernetes would not take of a ConfigMap or a Secret, which a job may take its variables from: metadata, and
   values that are no strings. Other objects are ok. */
void report_config(struct cli_report *r, const char *file, const struct manifest *m, const struct manifest_object *o);
/* That the kind's own code failed: a line of the kind's file and not of the manifest. */
void report_kind(struct cli_report *r, const struct kind *kind, struct str message);
/* What is wrong with the value of one of the edits: told of its --set, wherever the rest of the job comes from. False:
   it comes of none of them. */
bool report_edit(struct cli_report *r, struct arena *a, const struct problem *p);
/* Everything that is wrong with a job. */
void report_job(struct cli_report *r, const char *file, const struct manifest *m, const struct manifest_object *o,
                const struct problems *p);

#endif
