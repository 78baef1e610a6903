/* Kubernetes pods, written as YAML, as what is run here. */
#include "local/pod/pod.h"

#include "base/file.h"
#include "base/json.h"
#include "base/other_types.h"
#include "base/yaml.h"
#include "local/pod/user.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

struct world {
	struct arena a;
	struct yaml_file *pod, *objects;
	struct pod_from_options o;
	struct pod_spec spec;
	struct pod_refusal why;
	struct err e;
};

static yyjson_val *config_map(void *cookie, struct str name)
{
	struct world *w = cookie;

	return json_get_str(json_get(yaml_root(w->objects, 0), "maps"), name);
}

static yyjson_val *secret(void *cookie, struct str name)
{
	struct world *w = cookie;

	return json_get_str(json_get(yaml_root(w->objects, 0), "secrets"), name);
}

static const char *volume(void *cookie, struct str name)
{
	(void)cookie;
	return str_eqc(name, "given") ? "/srv/given" : NULL;
}

static bool image(void *cookie, struct str name, struct pod_image *ret)
{
	static struct str entry[] = { STR_INIT("/entry"), STR_INIT("$(A)") }, cmd[] = { STR_INIT("cmd") };
	static struct pod_env env[] = { { STR_INIT("IMAGE"), STR_INIT("1") }, { STR_INIT("A"), STR_INIT("image") } };

	(void)cookie;
	if (!str_eqc(name, "tree"))
		return false;
	*ret = (struct pod_image){ .dir = STR("/srv/tree"), .cwd = STR("/app") };
	ret->entrypoint.v = entry;
	ret->entrypoint.n = 2;
	ret->cmd.v = cmd;
	ret->cmd.n = 1;
	ret->env.v = env;
	ret->env.n = 2;
	return true;
}

static struct yaml_file *parse(const char *yaml)
{
	struct err e = ERR_INIT;
	struct yaml_file *y = yaml_parse(STR("test"), str_c(yaml), &e);

	if (!y)
		fail_msg("%s", err_msg(&e));
	return y;
}

static bool convert(struct world *w, const char *spec)
{
	static const char *const env[] = { "PATH=/usr/bin", "HOME=/root", NULL };
	struct str text;

	memset(w, 0, sizeof(*w));
	text = arena_printf(
		&w->a,
		"metadata: {name: p-0, namespace: ns, uid: u1, labels: {a/b: lab}, annotations: {x: 'an\"n'}}\n"
		"spec:\n%s",
		spec);
	w->pod = parse(text.p);
	w->objects = parse("maps:\n"
	                   "  cm: {data: {k: v, other: w, 'a=b': no}, binaryData: {bin: AAE=}}\n"
	                   "secrets:\n"
	                   "  s: {data: {pass: cGFzcw==, bad: '!!'}, stringData: {plain: text}}\n");
	w->o = (struct pod_from_options){ .config_map = config_map,
		                          .secret = secret,
		                          .volume = volume,
		                          .image = image,
		                          .cookie = w,
		                          .env = env,
		                          .node = STR("here"),
		                          .host_ip = STR("10.0.0.1"),
		                          .pod_ip = STR("10.0.0.2"),
		                          .cpu_milli = 4000,
		                          .memory = 8 << 20 };
	return pod_from(&w->spec, yaml_root(w->pod, 0), &w->o, &w->a, &w->why, &w->e);
}

static void done(struct world *w)
{
	yaml_close(w->pod);
	yaml_close(w->objects);
	err_release(&w->e);
	arena_release(&w->a);
}

static void ok(struct world *w, const char *spec)
{
	if (!convert(w, spec))
		fail_msg("%s", err_msg(&w->e));
}

static void assert_str(struct str s, const char *want)
{
	if (!str_eqc(s, want))
		fail_msg("got \"%.*s\", want \"%s\"", STR_F(s), want);
}

static void assert_env(const struct pod_container *c, const char *name, const char *want)
{
	for (size_t i = 0; i < c->env.n; i++)
		if (str_eqc(c->env.v[i].name, name)) {
			if (!want)
				fail_msg("%s is set", name);
			assert_str(c->env.v[i].value, want);
			return;
		}
	if (want)
		fail_msg("%s is not set", name);
}

static void test_command_and_env(void **state)
{
	struct world w;
	const struct pod_container *c;

	(void)state;
	ok(&w, "  containers:\n"
	       "  - name: main\n"
	       "    image: any\n"
	       "    command: [run, '$(A)', '$(B)', $$(A), $(NONE)]\n"
	       "    args: ['$(LATE)', '$(k)']\n"
	       "    workingDir: /w\n"
	       "    envFrom:\n"
	       "    - configMapRef: {name: cm}\n"
	       "    - {prefix: P_, secretRef: {name: s2, optional: true}}\n"
	       "    env:\n"
	       "    - {name: A, value: a}\n"
	       "    - {name: B, value: '$(A)-$(LATE)-$(k)'}\n"
	       "    - {name: LATE, value: l}\n"
	       "    - {name: k, value: mine}\n"
	       "    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}\n"
	       "    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}\n"
	       "    - {name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}\n"
	       "    - {name: POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}\n"
	       "    - {name: LAB, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['a/b']\"}}}\n"
	       "    - {name: ANN, valueFrom: {fieldRef: {fieldPath: \"metadata.annotations['x']\"}}}\n"
	       "    - {name: NOLAB, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['none']\"}}}\n"
	       "    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}\n"
	       "    - {name: HOST, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}\n"
	       "    - {name: PASS, valueFrom: {secretKeyRef: {name: s, key: pass}}}\n"
	       "    - {name: PLAIN, valueFrom: {secretKeyRef: {name: s, key: plain}}}\n"
	       "    - {name: GONE, valueFrom: {configMapKeyRef: {name: cm, key: gone, optional: true}}}\n"
	       "    - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}\n"
	       "    - {name: CPUM, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}\n"
	       "    - {name: MEM, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}\n"
	       "    - {name: REQ, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: 1m}}}\n"
	       "    resources: {limits: {cpu: 1500m}}\n");
	c = &w.spec.containers.v[0];
	assert_int_equal(c->command.n, 7);
	assert_str(c->command.v[1], "a");
	assert_str(c->command.v[2], "a-$(LATE)-v");
	assert_str(c->command.v[3], "$(A)");
	assert_str(c->command.v[4], "$(NONE)");
	assert_str(c->command.v[5], "l");
	assert_str(c->command.v[6], "mine");
	assert_str(c->cwd, "/w");
	assert_env(c, "B", "a-$(LATE)-v");
	assert_env(c, "k", "mine");
	assert_env(c, "other", "w");
	assert_env(c, "a=b", NULL);
	assert_env(c, "bin", NULL);
	assert_env(c, "NODE", "here");
	assert_env(c, "NAME", "p-0");
	assert_env(c, "NS", "ns");
	assert_env(c, "POD_UID", "u1");
	assert_env(c, "LAB", "lab");
	assert_env(c, "ANN", "an\"n");
	assert_env(c, "NOLAB", "");
	assert_env(c, "IP", "10.0.0.2");
	assert_env(c, "HOST", "10.0.0.1");
	assert_env(c, "PASS", "pass");
	assert_env(c, "PLAIN", "text");
	assert_env(c, "GONE", NULL);
	assert_env(c, "CPU", "2");
	assert_env(c, "CPUM", "1500");
	assert_env(c, "MEM", "8");
	assert_env(c, "REQ", "1500");
	assert_env(c, "PATH", "/usr/bin");
	assert_env(c, "PYTHONUNBUFFERED", "1");
	assert_env(c, "HOSTNAME", "p-0");
	assert_int_equal(c->cpu_milli, 1500);
	assert_str(w.spec.hostname, "p-0");
	assert_int_equal(w.spec.grace, 30000);
	assert_int_equal(w.spec.restart, POD_RESTART_ALWAYS);
	assert_str(c->termination_path, "/dev/termination-log");
	done(&w);
}

static void test_own_settings_win(void **state)
{
	struct world w;

	(void)state;
	ok(&w, "  restartPolicy: OnFailure\n"
	       "  hostNetwork: true\n"
	       "  terminationGracePeriodSeconds: 0\n"
	       "  activeDeadlineSeconds: 7\n"
	       "  securityContext: {runAsUser: 5, runAsGroup: 6}\n"
	       "  initContainers:\n"
	       "  - {name: first, command: [a]}\n"
	       "  - {name: side, command: [b], restartPolicy: Always}\n"
	       "  containers:\n"
	       "  - name: main\n"
	       "    command: [c]\n"
	       "    env: [{name: PYTHONUNBUFFERED, value: ''}, {name: PATH, value: /mine}]\n"
	       "    securityContext: {runAsUser: 7}\n"
	       "    terminationMessagePath: /tmp/last\n"
	       "    terminationMessagePolicy: FallbackToLogsOnError\n"
	       "    resources: {limits: {memory: 1Mi}, requests: {cpu: 250m}}\n");
	assert_int_equal(w.spec.restart, POD_RESTART_ON_FAILURE);
	assert_int_equal(w.spec.grace, 0);
	assert_int_equal(w.spec.deadline, 7000);
	assert_true(str_empty(w.spec.hostname));
	assert_int_equal(w.spec.containers.n, 3);
	assert_true(w.spec.containers.v[0].init && !w.spec.containers.v[0].sidecar);
	assert_int_equal(w.spec.containers.v[0].uid, 5);
	assert_true(w.spec.containers.v[1].init && w.spec.containers.v[1].sidecar);
	assert_false(w.spec.containers.v[2].init);
	assert_env(&w.spec.containers.v[2], "PYTHONUNBUFFERED", "");
	assert_env(&w.spec.containers.v[2], "PATH", "/mine");
	assert_int_equal(w.spec.containers.v[2].uid, 7);
	assert_int_equal(w.spec.containers.v[2].gid, 6);
	assert_str(w.spec.containers.v[2].termination_path, "/tmp/last");
	assert_true(w.spec.containers.v[2].termination_logs);
	assert_int_equal(w.spec.containers.v[2].memory, 1 << 20);
	assert_int_equal(w.spec.containers.v[2].cpu_request, 250);
	done(&w);
}

static void test_image_with_a_tree(void **state)
{
	struct world w;
	const struct pod_container *c;

	(void)state;
	ok(&w, "  containers:\n"
	       "  - {name: a, image: tree}\n"
	       "  - {name: b, image: tree, args: [mine]}\n"
	       "  - {name: c, image: tree, command: [own], workingDir: /d, env: [{name: A, value: x}]}\n");
	c = w.spec.containers.v;
	assert_str(c[0].rootfs, "/srv/tree");
	assert_str(c[0].cwd, "/app");
	assert_int_equal(c[0].command.n, 3);
	/* The image's own variables are not expanded: Kubernetes does not know them. */
	assert_str(c[0].command.v[1], "$(A)");
	assert_str(c[0].command.v[2], "cmd");
	assert_env(&c[0], "IMAGE", "1");
	assert_int_equal(c[1].command.n, 3);
	assert_str(c[1].command.v[2], "mine");
	assert_int_equal(c[2].command.n, 1);
	assert_str(c[2].cwd, "/d");
	assert_env(&c[2], "A", "x");
	done(&w);
}

static void test_volumes(void **state)
{
	struct world w;
	const struct pod_volume *v;
	const struct pod_mount *m;

	(void)state;
	ok(&w, "  volumes:\n"
	       "  - {name: e, emptyDir: {}}\n"
	       "  - {name: mem, emptyDir: {medium: Memory, sizeLimit: 1Mi}}\n"
	       "  - {name: h, hostPath: {path: /data, type: DirectoryOrCreate}}\n"
	       "  - {name: cm, configMap: {name: cm, defaultMode: 0400, items: [{key: k, path: d/f, mode: 0600}, "
	       "{key: bin, path: b}]}}\n"
	       "  - {name: s, secret: {secretName: s, items: [{key: pass, path: p}]}}\n"
	       "  - {name: none, configMap: {name: none, optional: true}}\n"
	       "  - {name: given, nfs: {server: x, path: /y}}\n"
	       "  - {name: d, downwardAPI: {items: [{path: ann, fieldRef: {fieldPath: metadata.annotations}}]}}\n"
	       "  - {name: nothing}\n"
	       "  containers:\n"
	       "  - name: main\n"
	       "    command: [c]\n"
	       "    env: [{name: SUB, value: x/y}]\n"
	       "    volumeMounts:\n"
	       "    - {name: e, mountPath: /data/, readOnly: true, subPath: a/b}\n"
	       "    - {name: e, mountPath: relative, subPathExpr: s/$(SUB)}\n");
	v = w.spec.volumes.v;
	assert_int_equal(v[0].kind, POD_VOLUME_OWN);
	assert_false(v[0].read_only);
	assert_int_equal(v[1].kind, POD_VOLUME_MEMORY);
	assert_int_equal(v[1].size, 1 << 20);
	assert_int_equal(v[2].kind, POD_VOLUME_HOST);
	assert_int_equal(v[2].host, POD_HOST_DIR_CREATE);
	assert_str(v[2].path, "/data");
	assert_int_equal(v[3].files.n, 2);
	assert_str(v[3].files.v[0].path, "d/f");
	assert_str(v[3].files.v[0].data, "v");
	assert_int_equal(v[3].files.v[0].mode, 0600);
	assert_int_equal(v[3].files.v[1].mode, 0400);
	assert_int_equal(v[3].files.v[1].data.n, 2);
	assert_true(v[3].read_only);
	assert_str(v[4].files.v[0].data, "pass");
	assert_int_equal(v[5].files.n, 0);
	assert_int_equal(v[6].kind, POD_VOLUME_HOST);
	assert_str(v[6].path, "/srv/given");
	assert_false(v[6].read_only);
	assert_str(v[7].files.v[0].data, "x=\"an\\\"n\"");
	assert_int_equal(v[8].kind, POD_VOLUME_OWN);
	m = w.spec.containers.v[0].mounts.v;
	assert_str(m[0].path, "/data");
	assert_str(m[0].sub_path, "a/b");
	assert_true(m[0].read_only);
	assert_str(m[1].path, "/relative");
	assert_str(m[1].sub_path, "s/x/y");
	done(&w);
}

static void test_probes(void **state)
{
	struct world w;
	const struct pod_container *c;

	(void)state;
	ok(&w, "  containers:\n"
	       "  - name: main\n"
	       "    command: [c]\n"
	       "    ports: [{name: web, containerPort: 8080}]\n"
	       "    startupProbe: {exec: {command: [test, -e, /x]}, failureThreshold: 30, periodSeconds: 1}\n"
	       "    readinessProbe: {httpGet: {path: /h, port: web, httpHeaders: [{name: X, value: y}]}, "
	       "initialDelaySeconds: 3, timeoutSeconds: 4, successThreshold: 2}\n"
	       "    livenessProbe: {tcpSocket: {port: 22, host: 127.0.0.1}, terminationGracePeriodSeconds: 5}\n"
	       "    lifecycle: {preStop: {exec: {command: [bye]}}}\n"
	       "  - {name: b, command: [c], lifecycle: {preStop: {sleep: {seconds: 3}}}}\n");
	c = &w.spec.containers.v[0];
	assert_int_equal(c->startup.kind, POD_PROBE_EXEC);
	assert_int_equal(c->startup.command.n, 3);
	assert_int_equal(c->startup.failure, 30);
	assert_int_equal(c->startup.period, 1000);
	assert_int_equal(c->startup.grace, -1);
	assert_int_equal(c->readiness.kind, POD_PROBE_HTTP);
	assert_int_equal(c->readiness.port, 8080);
	assert_int_equal(c->readiness.initial_delay, 3000);
	assert_int_equal(c->readiness.timeout, 4000);
	assert_int_equal(c->readiness.success, 2);
	assert_int_equal(c->readiness.failure, 3);
	assert_int_equal(c->readiness.headers.n, 1);
	assert_int_equal(c->liveness.kind, POD_PROBE_TCP);
	assert_int_equal(c->liveness.grace, 5000);
	assert_int_equal(c->liveness.period, 10000);
	assert_str(c->pre_stop.v[0], "bye");
	assert_str(w.spec.containers.v[1].pre_stop.v[0], "sleep");
	done(&w);
}

#define MAIN "  containers: [{name: main, command: [c]}]\n"
#define WITH(more) "  containers: [{name: main, command: [c], " more "}]\n"

static void test_refusals(void **state)
{
	static const struct {
		const char *spec, *message;
		bool retry;
	} cases[] = {
		{ "  {}\n", "spec.containers: is empty", false },
		{ "  initContainers: [{name: a, command: [c]}]\n", "spec.containers: is empty", false },
		{ "  containers: [{name: main, image: img, args: [a]}]\n",
		  "spec.containers[0]: command: is missing. Images are not pulled on this machine, so the image's own "
		  "command is unknown: set command, or give the image's files with --rootfs img=DIR",
		  false },
		{ "  containers: [{name: Main, command: [c]}]\n", "spec.containers[0]: name: must be a DNS label",
		  false },
		{ "  containers: [{name: a, command: [c]}, {name: a, command: [c]}]\n",
		  "spec.containers[1]: name: a is there twice", false },
		{ "  containers: [{name: a, command: c}]\n",
		  "spec.containers[0]: command: is a string, not a list of strings", false },
		{ "  volumes: [{name: v, nfs: {server: x}}]\n" MAIN,
		  "spec.volumes[0]: nfs: not supported on this machine; give a folder for it: --volume v=DIR", false },
		{ "  volumes: [{name: v, persistentVolumeClaim: {claimName: x}}]\n" MAIN,
		  "spec.volumes[0]: persistentVolumeClaim: not supported on this machine; give a folder for it: "
		  "--volume "
		  "v=DIR",
		  false },
		{ "  volumes: [{name: e, emptyDir: {}}, {name: v, nfs: {server: x}}, {name: w, iscsi: {}}]\n" MAIN,
		  "spec.volumes[1]: nfs: not supported on this machine; give a folder for it: --volume v=DIR "
		  "--volume w=DIR",
		  false },
		{ "  volumes: [{name: v, configMap: {name: nope}}]\n" MAIN,
		  "spec.volumes[0]: configMap: ConfigMap nope is not there", true },
		{ "  volumes: [{name: v, configMap: {name: cm, items: [{key: k, path: ../x}]}}]\n" MAIN,
		  "spec.volumes[0]: configMap: items[0]: path ../x: must be relative and stay inside the volume",
		  false },
		{ "  volumes: [{name: v, secret: {secretName: s}}]\n" MAIN,
		  "spec.volumes[0]: secret: key bad: is not base64", false },
		{ "  volumes: [{name: v, hostPath: {path: rel}}]\n" MAIN,
		  "spec.volumes[0]: hostPath: path: must be absolute", false },
		{ WITH("volumeMounts: [{name: v, mountPath: /x}]"),
		  "spec.containers[0]: volumeMounts[0]: name: there is no volume v", false },
		{ "  volumes: [{name: v}]\n" WITH("volumeMounts: [{name: v, mountPath: /}]"),
		  "spec.containers[0]: volumeMounts[0]: mountPath: must be a path below /, without '..'", false },
		{ "  volumes: [{name: v}]\n" WITH("volumeMounts: [{name: v, mountPath: /a/../b}]"),
		  "spec.containers[0]: volumeMounts[0]: mountPath: must be a path below /, without '..'", false },
		{ "  volumes: [{name: v}]\n" WITH("volumeMounts: [{name: v, mountPath: /a, subPath: /etc}]"),
		  "spec.containers[0]: volumeMounts[0]: subPath: must be relative and stay inside the volume", false },
		{ "  volumes: [{name: v}]\n" WITH(
			  "volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /a/}]"),
		  "spec.containers[0]: volumeMounts[1].mountPath: is there twice", false },
		{ WITH("terminationMessagePath: last"), "spec.containers[0]: terminationMessagePath: must be absolute",
		  false },
		{ WITH("terminationMessagePath: /none/../etc/last"),
		  "spec.containers[0]: terminationMessagePath: must be a path below /, without '..'", false },
		{ WITH("env: [{name: A, valueFrom: {configMapKeyRef: {name: cm, key: nope}}}]"),
		  "spec.containers[0]: env[0]: valueFrom: configMapKeyRef: there is no key nope in cm", true },
		{ WITH("env: [{name: A, valueFrom: {secretKeyRef: {name: nope, key: k}}}]"),
		  "spec.containers[0]: env[0]: valueFrom: secretKeyRef: Secret nope is not there", true },
		{ WITH("env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.nope}}}]"),
		  "spec.containers[0]: env[0]: valueFrom: fieldRef.fieldPath: spec.nope is not known", false },
		{ WITH("env: [{name: 'A=B', value: c}]"),
		  "spec.containers[0]: env[0]: name: is not the name of a variable", false },
		{ WITH("env: [{name: A, value: \"a\\0b\"}]"),
		  "spec.containers[0]: env[0]: A: the value has a zero byte", false },
		{ WITH("envFrom: [{configMapRef: {name: nope}}]"),
		  "spec.containers[0]: envFrom[0]: configMapRef: ConfigMap nope is not there", true },
		{ WITH("readinessProbe: {grpc: {port: 1}}"),
		  "spec.containers[0]: readinessProbe: only exec, httpGet and tcpSocket are supported on this machine",
		  false },
		{ WITH("readinessProbe: {httpGet: {port: web}}"),
		  "spec.containers[0]: readinessProbe: httpGet: port: there is no port web", false },
		{ WITH("readinessProbe: {httpGet: {port: 1, scheme: HTTPS}}"),
		  "spec.containers[0]: readinessProbe: httpGet: scheme: only HTTP is supported on this machine",
		  false },
		{ WITH("livenessProbe: {tcpSocket: {port: 70000}}"),
		  "spec.containers[0]: livenessProbe: tcpSocket: port: must be from 1 to 65535", false },
		{ WITH("livenessProbe: {tcpSocket: {port: 1}, periodSeconds: 0}"),
		  "spec.containers[0]: livenessProbe: periodSeconds: must be a whole number from 1 to 2147483647",
		  false },
		{ WITH("lifecycle: {postStart: {exec: {command: [a]}}}"),
		  "spec.containers[0]: lifecycle.postStart: not supported on this machine; do it in the command",
		  false },
		{ WITH("resources: {limits: {cpu: lots}}"),
		  "spec.containers[0]: resources.limits: cpu: is not a quantity", false },
		{ WITH("securityContext: {runAsNonRoot: true, runAsUser: 0}"),
		  "spec.containers[0]: securityContext.runAsNonRoot: runAsUser is 0, which is root", false },
		{ "  restartPolicy: Sometimes\n" MAIN, "spec.restartPolicy: must be Always, OnFailure or Never",
		  false },
		{ "  terminationGracePeriodSeconds: -1\n" MAIN,
		  "spec: terminationGracePeriodSeconds: must be a whole number from 0 to 2147483647", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		if (convert(&w, cases[i].spec))
			fail_msg("taken: %s", cases[i].spec);
		assert_string_equal(err_msg(&w.e), cases[i].message);
		assert_string_equal(w.why.reason, "CreateContainerConfigError");
		assert_int_equal(w.why.retry, cases[i].retry);
		done(&w);
	}
}

/* runAsNonRoot counts outside of a user namespace: its root may be an ordinary user. */
static void test_root(void **state)
{
#define ROOT "spec.containers[0]: securityContext.runAsNonRoot: the container would be root on this machine: "
	static const struct {
		const char *context;
		bool as_root, any_user;
		const char *message;
	} cases[] = {
		{ "{runAsNonRoot: true}", false, false, NULL },
		{ "{runAsNonRoot: true}", false, true, NULL },
		{ "{runAsNonRoot: true}", true, true, ROOT "name another user with runAsUser" },
		{ "{runAsNonRoot: true}", true, false, ROOT "only an ordinary user can run it here" },
		{ "{runAsNonRoot: true, runAsUser: 5}", true, true, NULL },
		{ "{runAsNonRoot: true, runAsUser: 5}", true, false, ROOT "only an ordinary user can run it here" },
		{ "{runAsNonRoot: true, runAsUser: 5}", false, false, NULL },
		{ "{runAsNonRoot: false}", true, true, NULL },
		{ "{}", true, true, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		ok(&w, MAIN);
		yaml_close(w.pod);
		w.pod = parse(arena_printf(&w.a, "spec:\n  containers: [{name: m, command: [a], securityContext: %s}]",
		                           cases[i].context)
		                      .p);
		w.o.as_root = cases[i].as_root;
		w.o.any_user = cases[i].any_user;
		if (pod_from(&w.spec, yaml_root(w.pod, 0), &w.o, &w.a, &w.why, &w.e) != !cases[i].message)
			fail_msg("%zu: %s", i, err_msg(&w.e));
		if (cases[i].message)
			assert_string_equal(err_msg(&w.e), cases[i].message);
		done(&w);
	}
}

static void test_user_outside(void **state)
{
	static const struct {
		const char *map;
		int64_t inside, outside;
	} cases[] = {
		{ "         0          0 4294967295\n", 0, 0 },
		{ "         0          0 4294967295\n", 1000, 1000 },
		{ "         0       1000          1\n", 0, 1000 },
		{ "         0       1000          1\n", 1, -1 },
		{ "      1000       1000          1\n", 1000, 1000 },
		{ "         0       1000          1\n         1     100000      65536\n", 5, 100004 },
		{ "", 0, -1 },
		{ "rubbish\n", 0, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(user_outside(str_c(cases[i].map), cases[i].inside), cases[i].outside);
}

static void test_what_has_no_effect_is_said(void **state)
{
	static const struct {
		const char *spec, *note;
	} cases[] = {
		{ "  containers: [{name: m, command: [a]}]\n", NULL },
		{ "  containers: [{name: m, command: [a], securityContext: {privileged: false, runAsUser: 5,\n"
		  "    allowPrivilegeEscalation: true, capabilities: {}, seccompProfile: {type: Unconfined}}}]\n",
		  NULL },
		{ "  securityContext: {fsGroup: 5, seccompProfile: {type: RuntimeDefault}, supplementalGroups: []}\n"
		  "  initContainers: [{name: i, command: [a], securityContext: {privileged: true}}]\n"
		  "  containers:\n"
		  "  - {name: m, command: [a], securityContext: {capabilities: {drop: [ALL]}}}\n"
		  "  - {name: two, command: [a], securityContext: {capabilities: {add: [SYS_ADMIN]}}}\n",
		  "securityContext: no effect on this machine, where pods run with your rights: privileged, "
		  "capabilities, seccompProfile, fsGroup" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		ok(&w, cases[i].spec);
		assert_int_equal(w.spec.notes.n, cases[i].note ? 1 : 0);
		if (cases[i].note)
			assert_str(w.spec.notes.v[0], cases[i].note);
		done(&w);
	}
}

static void test_too_many_mounts(void **state)
{
	struct buf spec = BUF_INIT(1 << 20);
	struct world w;

	(void)state;
	buf_printf(&spec, "  volumes: [{name: v}]\n  containers:\n  - name: m\n    command: [a]\n    volumeMounts:\n");
	for (int i = 0; i <= POD_MOUNTS_MAX; i++)
		buf_printf(&spec, "    - {name: v, mountPath: /m/%d}\n", i);
	assert_false(convert(&w, spec.p));
	assert_string_equal(err_msg(&w.e), "spec.containers[0]: volumeMounts: more than 128");
	done(&w);
	buf_release(&spec);
}

/* The store takes a pod whatever the types in its spec are. */
static void test_any_value_of_any_type(void **state)
{
	static const struct pod_from_options o = { .node = STR_INIT("here"), .cpu_milli = 4000, .memory = 8 << 20 };
	struct arena kept = ARENA_INIT;
	struct buf b = BUF_INIT(1 << 20);
	yyjson_doc *real;
	struct str text;
	bool more = true;

	(void)state;
	assert_int_equal(file_read(&text, CORPUS "/object/pod.json", &kept, NULL), FILE_READ);
	real = json_parse(text, NULL);
	for (size_t at = 0; more; at++) {
		for (unsigned type = 0; type < OTHER_TYPES; type++) {
			struct pod_refusal why = { 0 };
			struct arena a = ARENA_INIT;
			struct err e = ERR_INIT;
			struct pod_spec spec;
			yyjson_doc *doc;

			buf_clear(&b);
			more = put_retyped(yyjson_doc_get_root(real), at, type, &b);
			doc = json_parse(more ? buf_str(&b) : text, NULL);
			if (pod_from(&spec, yyjson_doc_get_root(doc), &o, &a, &why, &e) == (e.code != ERR_NONE))
				fail_msg("%s", b.p);
			if (e.code ? !why.reason || !more : why.reason != NULL)
				fail_msg("%s: %s", err_msg(&e), b.p);
			err_release(&e);
			arena_release(&a);
			yyjson_doc_free(doc);
		}
	}
	yyjson_doc_free(real);
	buf_release(&b);
	arena_release(&kept);
}

/* The caller's PATH is for the machine's own files: not where a container has a tree, or says its own. */
static void test_path_of_the_caller(void **state)
{
	struct world w;
	struct pod_spec spec = { 0 };

	(void)state;
	ok(&w, "  containers:\n"
	       "  - {name: a, image: none, command: [x]}\n"
	       "  - {name: b, image: tree, command: [x]}\n"
	       "  - {name: c, image: none, command: [x], env: [{name: PATH, value: /own}]}\n");
	assert_env(&w.spec.containers.v[0], "PATH", "/usr/bin");
	w.o.path = STR("/venv/bin:/usr/bin");
	assert_true(pod_from(&spec, yaml_root(w.pod, 0), &w.o, &w.a, &w.why, &w.e));
	assert_env(&spec.containers.v[0], "PATH", "/venv/bin:/usr/bin");
	assert_env(&spec.containers.v[1], "PATH", "/usr/bin");
	assert_env(&spec.containers.v[2], "PATH", "/own");
	done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_of_the_caller),
		cmocka_unit_test(test_command_and_env),
		cmocka_unit_test(test_own_settings_win),
		cmocka_unit_test(test_image_with_a_tree),
		cmocka_unit_test(test_volumes),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_user_outside),
		cmocka_unit_test(test_what_has_no_effect_is_said),
		cmocka_unit_test(test_too_many_mounts),
		cmocka_unit_test(test_any_value_of_any_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
