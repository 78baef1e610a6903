/* The simulated API server: what Kubernetes promises of the objects that we use. */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include "sim/sim.h"

/* Carries it out; what the answer holds is r->answered. */
void server_answer(struct sim *s, struct sim_request *r, struct outcome *o);
struct sim_job *server_create_job(struct sim *s, const struct sim_wish *wish, struct str name);
void server_edit_job(struct sim *s, struct sim_job *job);
void server_delete_job(struct sim *s, struct sim_job *job, bool foreground);
void server_collect(struct sim *s, struct sim_job *job);
void server_delete_pod(struct sim *s, struct sim_pod *pod, int32_t grace);
void server_remove_pod(struct sim *s, struct sim_pod *pod);
void server_remove_service(struct sim *s, struct sim_service *svc);
/* The pod was changed: a new resourceVersion, and the watchers are shown it. */
void server_pod_changed(struct sim *s, struct sim_pod *pod);
void server_service_changed(struct sim *s, struct sim_service *svc);
void server_pod_unlabel(struct sim *s, struct sim_pod *pod);
void server_node_changed(struct sim *s, struct sim_node *node);
void server_node_gone(struct sim *s, struct sim_node *node);
/* A later version of the operator has served it for a moment, and ended it in a way of its own. */
void server_later_version(struct sim *s, struct sim_job *job);
struct sim_pod *server_foreign_pod(struct sim *s, struct str name, struct sim_job *impostor_of);

/* Of its own parts. */
msec server_whole(msec t); /* Kubernetes' times are whole seconds */
struct str server_next_rv(struct sim *s);
struct str server_next_uid(struct sim *s);
struct meta server_new_meta(struct sim *s, struct str name, struct str owner_uid);
/* A job's, in jobs_by_name. */
struct str server_name_key(struct sim *s, struct str kind, struct str name);
int server_create_pod(struct sim *s, struct sim_request *r, struct outcome *o);
int server_create_service(struct sim *s, struct sim_request *r, struct outcome *o);
int server_patch_status(struct sim *s, struct sim_request *r, struct outcome *o);

#endif
