/* PodGroups and who schedules them. */
#ifndef SIM_GROUPS_H
#define SIM_GROUPS_H

#include "sim/sim.h"

const char *groups_read(struct sim *s, struct sim_request *r, yyjson_val *root);
int groups_create(struct sim *s, struct sim_request *r, struct outcome *o);
int groups_patch(struct sim *s, struct sim_request *r);
int groups_get(struct sim *s, struct sim_request *r);
int groups_delete(struct sim *s, struct sim_request *r);
int groups_refuse(struct sim *s, const struct sim_job *job, const struct sim_request *r, struct outcome *o);
/* Would the patch leave HAVE as it is? */
bool groups_says_nothing(struct sim *s, const struct sim_request *r, const struct group *have);
/* Does the gang scheduler give the pod a place? */
bool groups_admit(const struct sim *s, const struct sim_pod *p);
void groups_remove(struct sim *s, struct sim_group *g);
void groups_timer(struct sim *s, struct sim_group *g);
void groups_meddle(struct sim *s);
void groups_undefine(struct sim *s);
void groups_leave(struct sim *s);

#endif
