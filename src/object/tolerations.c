#include "object/tolerations.h"

#include "base/json.h"

static bool covers(yyjson_val *one, const char *taint)
{
	struct str key = json_str(json_get(one, "key")), effect = json_str(json_get(one, "effect"));
	bool exists = str_eqc(json_str(json_get(one, "operator")), "Exists");

	if (effect.n && !str_eqc(effect, "NoExecute"))
		return false;
	/* The taints have no value. */
	if (!exists && json_str(json_get(one, "value")).n)
		return false;
	return key.n ? str_eqc(key, taint) : exists;
}

static int32_t longest(yyjson_val *list, const char *taint)
{
	int32_t most = -1;
	yyjson_val *one;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, one)
	{
		int64_t seconds;

		if (!covers(one, taint))
			continue;
		if (!json_get(one, "tolerationSeconds"))
			return TOLERATED_FOR_EVER;
		if (json_int(json_get(one, "tolerationSeconds"), &seconds))
			most = MAX(most, (int32_t)MIN(MAX(seconds, (int64_t)0), (int64_t)TOLERATED_FOR_EVER - 1));
	}
	return most;
}

struct tolerations tolerations_read(yyjson_val *list)
{
	return (struct tolerations){
		.not_ready = longest(list, "node.kubernetes.io/not-ready"),
		.unreachable = longest(list, "node.kubernetes.io/unreachable"),
	};
}
