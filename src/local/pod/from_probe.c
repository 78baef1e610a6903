/* Probes and hooks. */
#include "local/pod/from.h"

#include "base/json.h"

static bool from_port(struct from *f, yyjson_val *container, yyjson_val *ref, int64_t *ret)
{
	yyjson_val *port = json_get(ref, "port"), *item;
	size_t i, max;

	if (yyjson_is_str(port)) {
		yyjson_arr_foreach(json_get(container, "ports"), i, max, item)
		{
			if (str_eq(json_str(json_get(item, "name")), json_str(port)) &&
			    json_int(json_get(item, "containerPort"), ret))
				return true;
		}
		if (!str_int(json_str(port), ret))
			return from_invalid(f, "port: there is no port %.*s", STR_F(json_str(port)));
	} else if (!json_int(port, ret)) {
		return from_invalid(f, "port: is %s", json_type_name(port));
	}
	return (*ret > 0 && *ret < 65536) || from_invalid(f, "port: must be from 1 to 65535");
}

static bool is_header(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\r' || s.p[i] == '\n')
			return false;
	return true;
}

static bool from_http(struct from *f, struct pod_probe *p, yyjson_val *container, yyjson_val *ref)
{
	struct str scheme = json_str(json_get(ref, "scheme"));
	size_t i, max;
	yyjson_val *item;

	p->kind = POD_PROBE_HTTP;
	p->host = arena_str(f->a, json_str(json_get(ref, "host")));
	p->path = arena_str(f->a, json_str(json_get(ref, "path")));
	if (scheme.n && !str_eq_nocase(scheme, STR("HTTP")))
		return from_invalid(f, "scheme: only HTTP is supported on this machine");
	if (!is_header(p->path))
		return from_invalid(f, "path: has a line break");
	yyjson_arr_foreach(json_get(ref, "httpHeaders"), i, max, item)
	{
		struct pod_env *h = vec_push(f->a, &p->headers);

		h->name = arena_str(f->a, json_str(json_get(item, "name")));
		h->value = arena_str(f->a, json_str(json_get(item, "value")));
		if (h->name.n == 0 || !is_header(h->name) || !is_header(h->value))
			return from_invalid(f, "httpHeaders[%zu]: is not a header", i);
	}
	return from_port(f, container, ref, &p->port);
}

static bool from_exec(struct from *f, pod_strs *ret, yyjson_val *ref)
{
	if (!from_strs(f, ret, json_get(ref, "command"), "command"))
		return false;
	return ret->n || from_invalid(f, "command: is missing");
}

static bool from_handler(struct from *f, struct pod_probe *p, yyjson_val *container, yyjson_val *probe)
{
	yyjson_val *exec = json_get(probe, "exec"), *http = json_get(probe, "httpGet"),
		   *tcp = json_get(probe, "tcpSocket");

	if (exec) {
		p->kind = POD_PROBE_EXEC;
		return from_exec(f, &p->command, exec) || from_at(f, "exec");
	}
	if (http)
		return from_http(f, p, container, http) || from_at(f, "httpGet");
	if (tcp) {
		p->kind = POD_PROBE_TCP;
		p->host = arena_str(f->a, json_str(json_get(tcp, "host")));
		return from_port(f, container, tcp, &p->port) || from_at(f, "tcpSocket");
	}
	return from_invalid(f, "only exec, httpGet and tcpSocket are supported on this machine");
}

static bool from_probe(struct from *f, struct pod_probe *p, yyjson_val *container, const char *field)
{
	yyjson_val *probe = json_get(container, field);

	if (!probe || yyjson_is_null(probe))
		return true;
	p->timeout = SECONDS(1);
	p->period = SECONDS(10);
	p->success = 1;
	p->failure = 3;
	p->grace = -1;
	return (from_handler(f, p, container, probe) &&
	        from_seconds(f, &p->initial_delay, probe, "initialDelaySeconds", 0) &&
	        from_seconds(f, &p->timeout, probe, "timeoutSeconds", 1) &&
	        from_seconds(f, &p->period, probe, "periodSeconds", 1) &&
	        from_int(f, &p->success, probe, "successThreshold", 1, INT32_MAX) &&
	        from_int(f, &p->failure, probe, "failureThreshold", 1, INT32_MAX) &&
	        from_seconds(f, &p->grace, probe, "terminationGracePeriodSeconds", 1)) ||
	       from_at(f, "%s", field);
}

static bool from_hooks(struct from *f, struct pod_container *c, yyjson_val *lifecycle)
{
	yyjson_val *pre = json_get(lifecycle, "preStop"), *exec = json_get(pre, "exec"), *nap = json_get(pre, "sleep");
	int64_t seconds = 0;

	if (json_get(lifecycle, "postStart"))
		return from_invalid(f, "lifecycle.postStart: not supported on this machine; do it in the command");
	if (exec)
		return from_exec(f, &c->pre_stop, exec) || from_at(f, "lifecycle.preStop.exec");
	if (nap) {
		if (!from_int(f, &seconds, nap, "seconds", 0, INT32_MAX))
			return from_at(f, "lifecycle.preStop.sleep");
		*vec_push(f->a, &c->pre_stop) = STR("sleep");
		*vec_push(f->a, &c->pre_stop) = arena_printf(f->a, "%lld", (long long)seconds);
		return true;
	}
	return !pre || yyjson_is_null(pre) ||
	       from_invalid(f, "lifecycle.preStop: only exec and sleep are supported on this machine");
}

bool from_probes(struct from *f, struct pod_container *c, yyjson_val *container)
{
	return from_probe(f, &c->startup, container, "startupProbe") &&
	       from_probe(f, &c->readiness, container, "readinessProbe") &&
	       from_probe(f, &c->liveness, container, "livenessProbe") &&
	       from_hooks(f, c, json_get(container, "lifecycle"));
}
