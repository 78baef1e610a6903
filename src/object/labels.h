/* What our objects are called in their own metadata. */
#ifndef OBJECT_LABELS_H
#define OBJECT_LABELS_H

#include "base/str.h"

/* Our own labels; every child carries them all. The watches select on LABEL_UID. */
#define LABEL_DOMAIN "dl-operator.mpba.fbk.eu/"
#define LABEL_UID LABEL_DOMAIN "uid"
#define LABEL_KIND LABEL_DOMAIN "kind"
#define LABEL_JOB LABEL_DOMAIN "job"
#define LABEL_ROLE LABEL_DOMAIN "role"
#define LABEL_INDEX LABEL_DOMAIN "index"
#define LABEL_GENERATION LABEL_DOMAIN "generation"
/* Condition of a pod of the cluster on one machine: what its containers wrote is not all in their logs. */
#define CONDITION_LOG_LOST LABEL_DOMAIN "log-lost"
/* The policy of a kind whose spec is an array. */
#define ANNOTATION_POLICY LABEL_DOMAIN "policy"

/* On a job that was given to the cluster on this machine: the folder and the PATH of its caller. */
#define ANNOTATION_FOLDER LABEL_DOMAIN "folder"
#define ANNOTATION_PATH LABEL_DOMAIN "path"

/* On the pod of a companion: whoever runs it on one machine says where people reach it. */
#define ANNOTATION_ADDRESS LABEL_DOMAIN "address"

#endif
