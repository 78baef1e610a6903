#include "local/runner/node.h"

#include "base/http_code.h"
#include "local/runner/call.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/utsname.h>

enum { BODY_MAX = 16384, PODS_MAX = 1000 };

void node_ip(char ret[NET_IP_TEXT])
{
	struct ifaddrs *all = NULL;

	snprintf(ret, NET_IP_TEXT, "127.0.0.1");
	if (getifaddrs(&all) != 0)
		return;
	for (struct ifaddrs *one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK) ||
		    !(one->ifa_flags & IFF_UP))
			continue;
		inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr, ret, NET_IP_TEXT);
		break;
	}
	freeifaddrs(all);
}

static const char *arch_of(const struct utsname *u)
{
	return strcmp(u->machine, "x86_64") == 0 ? "amd64" : strcmp(u->machine, "aarch64") == 0 ? "arm64" : u->machine;
}

static void put_meta(struct runner *r, struct buf *b, const struct utsname *u)
{
	buf_printf(b, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":");
	buf_json_str(b, r->node);
	buf_printf(b,
	           ",\"labels\":{\"kubernetes.io/arch\":\"%s\",\"kubernetes.io/os\":\"linux\","
	           "\"kubernetes.io/hostname\":",
	           arch_of(u));
	buf_json_str(b, r->node);
	buf_printf(b, "}}}");
}

static void put_amount(struct runner *r, struct buf *b, const char *name)
{
	const struct amount *m = &r->c.machine;

	buf_printf(b, ",\"%s\":{\"cpu\":\"%lldm\",\"memory\":\"%lldKi\",\"pods\":\"%d\",\"nvidia.com/gpu\":\"%lld\"}",
	           name, (long long)m->cpu, (long long)(m->memory / 1024), PODS_MAX, (long long)m->gpus);
}

static msec ready_since(yyjson_val *node, msec now)
{
	yyjson_val *c;
	size_t i, max;
	msec t = now;

	yyjson_arr_foreach(json_at(node, "status", "conditions", NULL), i, max, c)
	{
		if (str_eqc(json_str(json_get(c, "type")), "Ready") && str_eqc(json_str(json_get(c, "status")), "True"))
			time_parse(json_str(json_get(c, "lastTransitionTime")), &t);
	}
	return t;
}

static void put_status(struct runner *r, struct buf *b, const struct utsname *u, msec since, msec now)
{
	char first[TIME_TEXT], last[TIME_TEXT];

	buf_printf(b,
	           "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"RunnerReady\","
	           "\"message\":\"pods run as processes of this machine\",\"lastTransitionTime\":\"%s\","
	           "\"lastHeartbeatTime\":\"%s\"}],\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"%s\"},"
	           "{\"type\":\"Hostname\",\"address\":",
	           time_format(since, first), time_format(now, last), r->host_ip);
	buf_json_str(b, r->node);
	buf_printf(b, "}]");
	put_amount(r, b, "capacity");
	put_amount(r, b, "allocatable");
	buf_printf(b, ",\"nodeInfo\":{\"operatingSystem\":\"linux\",\"architecture\":\"%s\",\"kernelVersion\":",
	           arch_of(u));
	buf_json_str(b, str_c(u->release));
	buf_printf(b, ",\"kubeletVersion\":\"dljob-%s\",\"containerRuntimeVersion\":\"dljob://%s\",\"osImage\":\"\"}}}",
	           DL_VERSION, DL_VERSION);
}

static bool send_it(struct runner *r, enum store_verb verb, bool status, struct buf *b, int *code, struct err *e)
{
	bool ok = runner_do(r,
	                    &(struct store_request){ .verb = verb,
	                                             .type = r->node_type,
	                                             .name = r->node,
	                                             .status = status,
	                                             .urgent = true,
	                                             .patch = STORE_PATCH_MERGE,
	                                             .body = buf_str(b) },
	                    code, e);

	buf_clear(b);
	return ok;
}

bool node_make(struct runner *r, struct err *e)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT(BODY_MAX);
	CLEANUP(json_docp) yyjson_doc *old = NULL;
	struct utsname u = { .machine = "unknown" };
	msec now = clock_now(r->c.clock);
	bool ok;
	int code;

	uname(&u);
	put_meta(r, &b, &u);
	ok = send_it(r, STORE_CREATE, false, &b, &code, e);
	if (!ok && code == HTTP_CONFLICT) {
		put_meta(r, &b, &u);
		ok = send_it(r, STORE_PATCH, false, &b, &code, e);
	}
	old = runner_read(r, r->node_type, STR_NONE, r->node);
	if (ok) {
		/* It was there already, of which the first answer told. */
		if (e)
			err_release(e);
		put_status(r, &b, &u, ready_since(yyjson_doc_get_root(old), now), now);
		ok = send_it(r, STORE_PATCH, true, &b, &code, e);
	}
	return ok || err_wrap(e, "the node %.*s cannot be stored", STR_F(r->node));
}
