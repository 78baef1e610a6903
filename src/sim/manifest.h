/* Jobs of all kinds, from what users say of them. */
#ifndef SIM_MANIFEST_H
#define SIM_MANIFEST_H

#include "sim/sim.h"

size_t manifest_kinds(void);
const char *manifest_kind_id(size_t row);
size_t manifest_role(size_t row, struct str name); /* SIM_ROLES: none */
const char *manifest_role_name(size_t row, size_t role);
/* Its children's names can be foreseen: nothing in them comes from the UID. */
bool manifest_plain_names(size_t row);
/* Runs until it is told to stop, and does not decide the end. */
bool manifest_serves(size_t row, size_t role);
bool manifest_chief(const struct sim_wish *w, size_t role, int32_t index);
/* The replica that fails in a flaky job. */
bool manifest_flaky(const struct sim_wish *w, size_t role, int32_t index);
struct sim_wish manifest_wish(struct sim *s);
/* How many replicas do the work. */
int32_t *manifest_count(struct sim_wish *w);
/* The whole object but for its status. */
yyjson_mut_val *manifest_render(struct sim *s, const struct sim_job *job, struct str rv, msec deleted,
                                yyjson_mut_doc *doc);

#endif
