/* Answers: objects, and metav1.Status in Kubernetes' words. */
#ifndef LOCAL_STORE_ANSWER_H
#define LOCAL_STORE_ANSWER_H

#include "base/http_code.h"
#include "local/store/state.h"

/* Each fills the answer and returns false. */
bool answer_refusal(struct store_call *c, enum http_code code, const char *reason, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
bool answer_not_found(struct store_call *c, struct str name);
bool answer_exists(struct store_call *c, struct str name);
bool answer_conflict(struct store_call *c, struct str name, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* 422: of a field of an object. */
bool answer_invalid(struct store_call *c, struct str name, const char *field, const char *fmt, ...) PRINTF_LIKE(4, 5);
bool answer_undecodable(struct store_call *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Answers with an object, in the version that was asked for. */
bool answer_object(struct store_call *c, enum http_code code, struct str text, uint64_t rv);
bool answer_deleted(struct store_call *c, const struct db_row *row);
/* "v1", "mlkube.io/v1beta1". */
struct str answer_api_version(const struct stored_type *t, struct arena *a);
/* TEXT with the apiVersion of T, in the store's arena. */
struct str answer_in_version(struct store *s, const struct stored_type *t, struct str text);

#endif
