/* spec.json: what to run. */
#include "local/pod/pod.h"

#include "base/file.h"
#include "base/json.h"
#include "local/pod/codec.h"

static const char *const probe_kinds[] = { "none", "exec", "http", "tcp", NULL };
static const char *const volume_kinds[] = { "own", "memory", "host", NULL };
static const char *const host_kinds[] = { "any", "dir", "dirCreate", "file", "fileCreate", NULL };
static const char *const restarts[] = { "Always", "OnFailure", "Never", NULL };

static const struct codec_field env_fields[] = {
	CODEC_S(struct pod_env, name),
	CODEC_S(struct pod_env, value),
};
static const struct codec env_codec = CODEC(struct pod_env, env_fields);

static const struct codec_field probe_fields[] = {
	CODEC_E(struct pod_probe, kind, probe_kinds),
	CODEC_SS(struct pod_probe, command),
	CODEC_S(struct pod_probe, host),
	CODEC_S(struct pod_probe, path),
	CODEC_I(struct pod_probe, port),
	CODEC_L(struct pod_probe, headers, env_codec),
	CODEC_I(struct pod_probe, initial_delay),
	CODEC_I(struct pod_probe, period),
	CODEC_I(struct pod_probe, timeout),
	CODEC_I(struct pod_probe, success),
	CODEC_I(struct pod_probe, failure),
	CODEC_I(struct pod_probe, grace),
};
static const struct codec probe_codec = CODEC(struct pod_probe, probe_fields);

static const struct codec_field mount_fields[] = {
	CODEC_S(struct pod_mount, volume),
	CODEC_S(struct pod_mount, path),
	CODEC_S(struct pod_mount, sub_path),
	CODEC_B(struct pod_mount, read_only),
};
static const struct codec mount_codec = CODEC(struct pod_mount, mount_fields);

static const struct codec_field container_fields[] = {
	CODEC_S(struct pod_container, name),
	CODEC_S(struct pod_container, image),
	CODEC_B(struct pod_container, init),
	CODEC_B(struct pod_container, sidecar),
	CODEC_SS(struct pod_container, command),
	CODEC_L(struct pod_container, env, env_codec),
	CODEC_S(struct pod_container, cwd),
	CODEC_S(struct pod_container, rootfs),
	CODEC_L(struct pod_container, mounts, mount_codec),
	CODEC_O(struct pod_container, startup, probe_codec),
	CODEC_O(struct pod_container, readiness, probe_codec),
	CODEC_O(struct pod_container, liveness, probe_codec),
	CODEC_SS(struct pod_container, pre_stop),
	CODEC_S(struct pod_container, termination_path),
	CODEC_B(struct pod_container, termination_logs),
	CODEC_I(struct pod_container, cpu_milli),
	CODEC_I(struct pod_container, cpu_request),
	CODEC_I(struct pod_container, memory),
	CODEC_I(struct pod_container, uid),
	CODEC_I(struct pod_container, gid),
};
static const struct codec container_codec = CODEC(struct pod_container, container_fields);

static const struct codec_field volume_fields[] = {
	CODEC_S(struct pod_volume, name), CODEC_E(struct pod_volume, kind, volume_kinds),
	CODEC_S(struct pod_volume, path), CODEC_E(struct pod_volume, host, host_kinds),
	CODEC_I(struct pod_volume, size), CODEC_B(struct pod_volume, read_only),
};
static const struct codec volume_codec = CODEC(struct pod_volume, volume_fields);

static const struct codec_field spec_fields[] = {
	CODEC_S(struct pod_spec, name),
	CODEC_S(struct pod_spec, ns),
	CODEC_S(struct pod_spec, uid),
	CODEC_S(struct pod_spec, hostname),
	CODEC_S(struct pod_spec, pod_ip),
	CODEC_L(struct pod_spec, containers, container_codec),
	CODEC_L(struct pod_spec, volumes, volume_codec),
	CODEC_E(struct pod_spec, restart, restarts),
	CODEC_I(struct pod_spec, grace),
	CODEC_I(struct pod_spec, deadline),
	CODEC_S(struct pod_spec, network),
	CODEC_B(struct pod_spec, pid_namespace),
	CODEC_B(struct pod_spec, mount_namespace),
	CODEC_B(struct pod_spec, ipc_namespace),
	CODEC_B(struct pod_spec, strict),
	CODEC_S(struct pod_spec, cgroup),
	CODEC_I(struct pod_spec, log_bytes),
	CODEC_I(struct pod_spec, log_files),
	CODEC_I(struct pod_spec, backoff),
	CODEC_SS(struct pod_spec, notes),
};
static const struct codec spec_codec = CODEC(struct pod_spec, spec_fields);

void pod_spec_write(const struct pod_spec *s, struct buf *out)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

	json_write(codec_write(doc, &spec_codec, s), out);
}

/* What the parent builds paths of, and indexes by. */
static bool check_spec(const struct pod_spec *s, struct err *e)
{
	if (s->containers.n == 0)
		return err_set(e, ERR_INVALID, "no containers");
	for (size_t i = 0; i < s->containers.n; i++) {
		const struct pod_container *c = &s->containers.v[i];

		if (!str_is_dns_label(c->name, false))
			return err_set(e, ERR_INVALID, "containers[%zu]: bad name", i);
		if (c->command.n == 0)
			return err_set(e, ERR_INVALID, "container %.*s: no command", STR_F(c->name));
		if (i > 0 && c->init && !s->containers.v[i - 1].init)
			return err_set(e, ERR_INVALID, "container %.*s: init containers come first", STR_F(c->name));
	}
	for (size_t i = 0; i < s->volumes.n; i++)
		if (!str_is_dns_label(s->volumes.v[i].name, false))
			return err_set(e, ERR_INVALID, "volumes[%zu]: bad name", i);
	return true;
}

bool pod_spec_read(struct pod_spec *ret, const char *folder, struct arena *a, struct err *e)
{
	const char *path = arena_printf(a, "%s/spec.json", folder).p;
	CLEANUP(json_docp) yyjson_doc *doc = NULL;
	struct str text;

	switch (file_read(&text, path, a, e)) {
	case FILE_READ:
		break;
	case FILE_MISSING:
		return err_set(e, ERR_IO, "%s: there is none", path);
	case FILE_FAILED:
		return false;
	}
	doc = json_parse(text, e);
	if (!doc || !codec_read(&spec_codec, ret, yyjson_doc_get_root(doc), a, e) || !check_spec(ret, e))
		return err_wrap(e, "%s", path);
	return true;
}
