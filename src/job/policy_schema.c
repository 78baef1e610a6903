/* The OpenAPI schema of spec.policy. */
#include "job/policy.h"

/* Longer than C99 promises; every compiler of today takes it. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* Structural, as the API server wants it for a CRD: `complete` of the job and `exitCodes` take
   several types, which a structural schema can only say by keeping them as they are; job_read()
   checks them. */

/* It would break the texts into columns of words. */
/* clang-format off */

#define RESTART                                                                                                       \
	"{\"type\":\"object\",\"description\":\"What happens when a replica fails.\",\"properties\":{"                \
	"\"policy\":{\"type\":\"string\",\"description\":\"Which failures are restarted.\","                          \
	"\"enum\":[\"Never\",\"Always\",\"OnFailure\",\"OnNodeFail\",\"ExitCode\",\"OnNodeFailWithExitCode\"]},"      \
	"\"scope\":{\"type\":\"string\",\"description\":\"What restarts: the pod, its role or the whole job.\","  \
	"\"enum\":[\"Pod\",\"Role\",\"Job\"]},"                                                                       \
	"\"limit\":{\"type\":\"integer\",\"format\":\"int32\",\"minimum\":-1,\"maximum\":1000000,"                    \
	"\"description\":\"How many counted restarts are allowed; -1: no limit.\"},"                              \
	"\"window\":{\"type\":\"integer\",\"format\":\"int32\",\"minimum\":0,\"maximum\":2147483647,"                 \
	"\"description\":\"An attempt that ran this many seconds resets the count; 0: never.\"},"                     \
	"\"backoff\":{\"type\":\"object\",\"description\":\"How long a restart waits; doubles each time.\","          \
	"\"properties\":{"                                                                                            \
	"\"initialSeconds\":{\"type\":\"integer\",\"format\":\"int32\",\"minimum\":0,\"maximum\":1000000,"            \
	"\"description\":\"Before the second restart; the first is immediate.\"},"                               \
	"\"maxSeconds\":{\"type\":\"integer\",\"format\":\"int32\",\"minimum\":0,\"maximum\":1000000,"                \
	"\"description\":\"The longest wait.\"}}},"                                                                   \
	"\"exitCodes\":{\"x-kubernetes-preserve-unknown-fields\":true,"                                               \
	"\"description\":\"Codes worth a retry: 137, \\\"137,143\\\", \\\"128-255\\\", or a list of these.\"}}}"

#define ROLE_END "\"type\":\"string\",\"enum\":[\"Any\",\"Rank0\",\"All\",\"None\"]"
#define TIME_FROM(least) "\"type\":\"integer\",\"format\":\"int64\",\"minimum\":" least ",\"maximum\":2147483647"

#define SCHEDULING                                                                                                    \
	"{\"type\":\"object\",\"description\":\"Settings for the gang scheduler.\",\"properties\":{"     \
	"\"minAvailable\":{\"type\":\"integer\",\"format\":\"int32\",\"minimum\":1,\"maximum\":100000,"               \
	"\"description\":\"How many pods must start together; default: all.\"},"                                      \
	"\"queue\":{\"type\":\"string\",\"description\":\"The Volcano queue it waits in.\"},"                         \
	"\"priorityClass\":{\"type\":\"string\","                                                                     \
	"\"description\":\"The PriorityClass of its Volcano PodGroup.\"},"                                            \
	"\"minResources\":{\"type\":\"object\","                                                                      \
	"\"description\":\"What must be free for these pods; default: the sum of their requests.\","                   \
	"\"additionalProperties\":{\"x-kubernetes-preserve-unknown-fields\":true}},"                                  \
	"\"scheduleTimeoutSeconds\":{\"type\":\"integer\",\"format\":\"int32\","                                      \
	"\"minimum\":1,\"maximum\":2147483647,"                                                                       \
	"\"description\":\"How long scheduler-plugins waits for all of them to be placed.\"}}}"

#define LIST(what)                                                                                                    \
	"{\"type\":\"array\",\"description\":\"" what "\",\"items\":"                                                 \
	"{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}"

/* OWN: the fields that only this companion has. */
#define COMPANION(what, own, image)                                                                                   \
	"{\"type\":\"object\",\"description\":\"" what "\",\"properties\":{" own                                      \
	"\"image\":{\"type\":\"string\",\"description\":\"" image "\"},"                                              \
	"\"volumes\":" LIST("Of the pod.") ","                                                                        \
	"\"volumeMounts\":" LIST("Of its container.") ","                                                             \
	"\"serviceType\":{\"type\":\"string\",\"enum\":[\"ClusterIP\",\"NodePort\",\"LoadBalancer\"],"                \
	"\"description\":\"Default: ClusterIP.\"},"                                                                   \
	"\"ttlSecondsAfterFinished\":{" TIME_FROM("0") ","                                                            \
	"\"description\":\"Seconds after the end of the job until it is deleted; default: with the job.\"}}}"

const char policy_schema[] =
	"{\"type\":\"object\",\"description\":\"Policies that hold for every kind of job.\",\"properties\":{"
	"\"restart\":" RESTART ","
	"\"complete\":{\"x-kubernetes-preserve-unknown-fields\":true,"
	"\"description\":\"When the job has succeeded: Any or All roles did, or a chief {role, index}.\"},"
	"\"fail\":{\"type\":\"string\",\"enum\":[\"Any\",\"All\"],"
	"\"description\":\"When the job has failed: Any or All roles did.\"},"
	"\"timeLimit\":{" TIME_FROM("1") ",\"description\":\"Seconds since all replicas ran.\"},"
	"\"activeDeadlineSeconds\":{" TIME_FROM("1") ",\"description\":\"Seconds since it started or was resumed.\"},"
	"\"ttlSecondsAfterFinished\":{" TIME_FROM("0") ","
	"\"description\":\"The job is deleted this long after its end.\"},"
	"\"cleanPods\":{\"type\":\"string\",\"enum\":[\"All\",\"Running\",\"None\"],"
	"\"description\":\"Which pods are deleted at the end.\"},"
	"\"suspend\":{\"type\":\"boolean\",\"description\":\"Delete the pods and wait.\"},"
	"\"doNotDisrupt\":{\"type\":\"boolean\","
	"\"description\":\"Ask node autoscalers to leave the nodes of its pods alone.\"},"
	"\"runningDeadlineSeconds\":{" TIME_FROM("1") ","
	"\"description\":\"The job ends if not all replicas run this long after its first pod was created.\"},"
	"\"startAfter\":{\"type\":\"object\","
	"\"description\":\"For a role, the roles that must be up before it starts.\","
	"\"additionalProperties\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
	"\"schedulingPolicy\":" SCHEDULING ","
	"\"tensorboard\":" COMPANION("A TensorBoard beside the job: a pod without a say in its end, with a service.",
	"\"logDir\":{\"type\":\"string\",\"description\":\"Where the training writes its events.\"},",
	"Its image; must have the command tensorboard.") ","
	"\"roles\":{\"type\":\"object\",\"description\":\"For one role, by its name.\",\"additionalProperties\":{"
	"\"type\":\"object\",\"properties\":{"
	"\"restart\":" RESTART ","
	"\"complete\":{" ROLE_END ",\"description\":\"When the role has succeeded.\"},"
	"\"fail\":{" ROLE_END ",\"description\":\"When the role has failed.\"}}}}}}";
