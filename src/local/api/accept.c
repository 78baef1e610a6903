#include "local/api/accept.h"

struct media {
	struct str type, as, group, version;
};

static struct media read_media(struct str text)
{
	struct media m = { 0 };
	struct str part, name;

	for (bool first = true; str_next(&text, ';', &part); first = false) {
		part = str_trim(part);
		if (first) {
			m.type = part;
		} else if (str_next(&part, '=', &name)) {
			if (str_eqc(name, "as"))
				m.as = part;
			else if (str_eqc(name, "g"))
				m.group = part;
			else if (str_eqc(name, "v"))
				m.version = part;
		}
	}
	return m;
}

static enum accept_form form_of(const struct media *m)
{
	if (!str_eq_nocase(m->type, STR("application/json")) && !str_eqc(m->type, "*/*") &&
	    !str_eqc(m->type, "application/*"))
		return ACCEPT_NONE;
	if (str_empty(m->as))
		return ACCEPT_JSON;
	if (str_eqc(m->as, "Table") && str_eqc(m->group, "meta.k8s.io") && str_eqc(m->version, "v1"))
		return ACCEPT_TABLE;
	if (str_eqc(m->as, "APIGroupDiscoveryList") && str_eqc(m->group, "apidiscovery.k8s.io"))
		return str_eqc(m->version, "v2")        ? ACCEPT_DISCOVERY
		       : str_eqc(m->version, "v2beta1") ? ACCEPT_DISCOVERY_BETA
		                                        : ACCEPT_NONE;
	return ACCEPT_NONE;
}

enum accept_form accept_form(struct str header, unsigned allowed)
{
	struct str part;

	if (str_empty(str_trim(header)))
		return ACCEPT_JSON;
	while (str_next(&header, ',', &part)) {
		struct media m = read_media(part);
		enum accept_form f = form_of(&m);

		if (f != ACCEPT_NONE && allowed & 1u << f)
			return f;
	}
	return ACCEPT_NONE;
}

const char *accept_content_type(enum accept_form f)
{
	switch (f) {
	case ACCEPT_NONE:
	case ACCEPT_JSON:
	case ACCEPT_TABLE:
		return "application/json";
	case ACCEPT_DISCOVERY:
		return "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
	case ACCEPT_DISCOVERY_BETA:
		return "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
	}
	BUG("no form");
}
