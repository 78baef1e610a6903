#include "object/delete_options.h"

void delete_options_put(struct buf *b, const struct delete_options *o)
{
	buf_put(b, STR("{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\""));
	if (o->grace >= 0)
		buf_printf(b, ",\"gracePeriodSeconds\":%lld", (long long)o->grace);
	if (o->uid.n) {
		buf_put(b, STR(",\"preconditions\":{\"uid\":"));
		buf_json_str(b, o->uid);
		buf_putc(b, '}');
	}
	if (o->policy.n) {
		buf_put(b, STR(",\"propagationPolicy\":"));
		buf_json_str(b, o->policy);
	}
	buf_putc(b, '}');
}
