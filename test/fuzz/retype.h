/* Inputs that are objects, or lines with an object after two letters at most: their values get other types. */
#ifndef FUZZ_RETYPE_H
#define FUZZ_RETYPE_H

#include "base/other_types.h"
#include "base/rng.h"
#include "local/store/store.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed);

/* A random one of those parts of INPUT that can be objects; empty: there is none. */
static inline struct str random_object(struct str input, struct rng *r)
{
	struct str rest = input, line, found = STR_NONE;
	uint64_t seen = 0;

	if (input.n && input.p[0] == '{')
		return input;
	while (str_next(&rest, '\n', &line)) {
		const char *brace = line.n ? memchr(line.p, '{', MIN(line.n, (size_t)3)) : NULL;

		if (brace && rng_one_in(r, ++seen))
			found = str_sub(line, (size_t)(brace - line.p), line.n);
	}
	return found;
}

static inline bool retype(struct str text, struct rng *r, struct buf *out)
{
	yyjson_doc *doc = json_parse(text, NULL);
	size_t values = yyjson_doc_get_val_count(doc);
	bool done = false;

	/* Keys count, too: not every number is that of a value. */
	for (int i = 0; values && !done && i < 8; i++)
		done = put_retyped(yyjson_doc_get_root(doc), rng_below(r, values), (unsigned)rng_next(r), out);
	yyjson_doc_free(doc);
	return done && !out->overflow;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	struct str input = { (const char *)data, n }, text;
	struct rng r = rng_seed(seed);
	struct buf b = BUF_INIT(1 << 20);
	size_t at, after;

	text = random_object(input, &r);
	if (text.n && !rng_one_in(&r, 4) && retype(text, &r, &b) && n - text.n + b.n <= max) {
		at = (size_t)(text.p - input.p);
		after = n - at - text.n;
		memmove(data + at + b.n, data + at + text.n, after);
		memcpy(data + at, b.p, b.n);
		n = at + b.n + after;
	} else {
		n = LLVMFuzzerMutate(data, n, max);
	}
	buf_release(&b);
	return n;
}

/* The type that the object says it is of; pods, if it says none. */
static inline const struct store_type *type_said(struct store *s, yyjson_val *root)
{
	struct str kind = json_str(json_get(root, "kind"));
	const struct store_type *t;

	for (size_t i = 0; (t = store_type_at(s, i)); i++)
		if (str_eq(t->kind, kind))
			return t;
	return store_type(s, STR_NONE, STR("v1"), STR("pods"));
}

/* For jobs. */
#define JOB_DEFINITION                                                                                                 \
	"{\"metadata\":{\"name\":\"aitrainingjobs.elasticdeeplearning.ai\"},\"spec\":{\"group\":"                      \
	"\"elasticdeeplearning.ai\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"aitrainingjobs\",\"kind\":"       \
	"\"AITrainingJob\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{"        \
	"\"status\":{}}}]}}"

#endif
