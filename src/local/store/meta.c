#include "local/store/meta.h"

yyjson_mut_val *meta_put_obj(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key)
{
	yyjson_mut_val *v = yyjson_mut_obj_get(obj, key);

	if (yyjson_mut_is_obj(v))
		return v;
	v = yyjson_mut_obj(doc);
	yyjson_mut_obj_put(obj, yyjson_mut_str(doc, key), v);
	return v;
}

yyjson_mut_val *meta_of(yyjson_mut_doc *doc)
{
	return meta_put_obj(doc, yyjson_mut_doc_get_root(doc), "metadata");
}

void meta_put_str(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, struct str v)
{
	yyjson_mut_obj_put(obj, yyjson_mut_str(doc, key), json_mut_str(doc, v));
}

void meta_put_int(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, int64_t v)
{
	yyjson_mut_obj_put(obj, yyjson_mut_str(doc, key), yyjson_mut_sint(doc, v));
}

void meta_put_time(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *key, msec t)
{
	char text[TIME_TEXT];

	meta_put_str(doc, obj, key, str_c(time_format(t, text)));
}

/* RFC 4122, version 4. */
struct str meta_new_uid(struct store *s)
{
	uint64_t a = rng_next(&s->rng), b = rng_next(&s->rng);

	return arena_printf(&s->arena, "%08llx-%04llx-4%03llx-%04llx-%012llx", (unsigned long long)(a >> 32),
	                    (unsigned long long)(a >> 16 & 0xffff), (unsigned long long)(a & 0xfff),
	                    (unsigned long long)(0x8000 | (b >> 48 & 0x3fff)),
	                    (unsigned long long)(b & 0xffffffffffff));
}

/* As Kubernetes: five characters without vowels, and the whole within a label. */
struct str meta_generated_name(struct store *s, struct str base)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	enum { RANDOM = 5, LABEL = 63 };
	char end[RANDOM];

	for (size_t i = 0; i < RANDOM; i++)
		end[i] = letters[rng_below(&s->rng, sizeof(letters) - 1)];
	return arena_printf(&s->arena, "%.*s%.*s", STR_F(str_sub(base, 0, LABEL - RANDOM)), (int)RANDOM, end);
}

static bool is_subdomain(struct str s)
{
	struct str part;

	if (str_empty(s) || s.p[s.n - 1] == '.')
		return false;
	while (str_next(&s, '.', &part)) {
		if (str_empty(part))
			return false;
		for (size_t i = 0; i < part.n; i++) {
			char c = part.p[i];
			bool alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

			if (!alnum && (c != '-' || i == 0 || i == part.n - 1))
				return false;
		}
	}
	return true;
}

const char *name_problem(enum name_form form, struct str name)
{
	switch (form) {
	case NAME_SUBDOMAIN:
		if (name.n > 253)
			return "must be no more than 253 characters";
		return is_subdomain(name) ? NULL
		                          : "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
		                            "characters, '-' or "
		                            "'.', and must start and end with an alphanumeric character (e.g. "
		                            "'example.com', regex "
		                            "used for validation is "
		                            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
	case NAME_LABEL:
		if (name.n > 63)
			return "must be no more than 63 characters";
		return str_is_dns_label(name, false) ? NULL
		                                     : "a lowercase RFC 1123 label must consist of lower case "
		                                       "alphanumeric characters or '-', and "
		                                       "must start and end with an alphanumeric character (e.g. "
		                                       "'my-name',  or '123-abc', regex "
		                                       "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
	case NAME_LABEL_1035:
		if (name.n > 63)
			return "must be no more than 63 characters";
		return str_is_dns_label(name, true)
		               ? NULL
		               : "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
		                 "with an "
		                 "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
		                 "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
	}
	BUG("no form of names");
}
