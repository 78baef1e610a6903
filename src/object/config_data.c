#include "object/config_data.h"

/* As yaml_where() reads it. */
static struct str path_of(struct arena *a, const char *field, struct str key)
{
	bool plain = key.n > 0;

	for (size_t i = 0; i < key.n; i++)
		plain = plain && !strchr(".[]\"", key.p[i]);
	return arena_printf(a, plain ? "%s.%.*s" : "%s[\"%.*s\"]", field, STR_F(key));
}

size_t config_faults(yyjson_val *object, struct arena *a, struct config_fault *ret, size_t max)
{
	static const char *const fields[] = { "data", "stringData", "binaryData" };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(fields) && n < max; i++) {
		yyjson_val *data = json_get(object, fields[i]), *key, *val;
		size_t at, size;

		if (data && !yyjson_is_null(data) && !yyjson_is_obj(data))
			ret[n++] =
				(struct config_fault){ str_c(fields[i]), arena_printf(a, "must be an object, found %s",
				                                                      json_type_name(data)) };
		if (!yyjson_is_obj(data))
			continue;
		yyjson_obj_foreach(data, at, size, key, val)
		{
			/* What is null is the empty string, in Kubernetes too. */
			if (yyjson_is_str(val) || yyjson_is_null(val) || n == max)
				continue;
			ret[n++] = (struct config_fault){ path_of(a, fields[i], json_str(key)),
				                          arena_printf(a, "must be a string, found %s%.*s",
				                                       json_type_name(val),
				                                       STR_F(json_quote_it(val, a))) };
		}
	}
	return n;
}
