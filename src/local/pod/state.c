/* state.json: what happened. */
#include "local/pod/pod.h"

#include "base/file.h"
#include "base/json.h"
#include "local/pod/codec.h"

static const char *const runs[] = { "waiting", "running", "terminated", NULL };
static const char *const lives[] = { "alive", "stopping", "ended", NULL };

static const struct codec_field run_fields[] = {
	CODEC_E(struct pod_container_run, run, runs), CODEC_S(struct pod_container_run, reason),
	CODEC_S(struct pod_container_run, message),   CODEC_I(struct pod_container_run, exit_code),
	CODEC_I(struct pod_container_run, signal),    CODEC_I(struct pod_container_run, started),
	CODEC_I(struct pod_container_run, finished),
};
static const struct codec run_codec = CODEC(struct pod_container_run, run_fields);

static const struct codec_field container_fields[] = {
	CODEC_S(struct pod_container_state, name),
	CODEC_S(struct pod_container_state, image),
	CODEC_B(struct pod_container_state, init),
	CODEC_B(struct pod_container_state, sidecar),
	CODEC_I(struct pod_container_state, restarts),
	CODEC_B(struct pod_container_state, ready),
	CODEC_I(struct pod_container_state, ready_since),
	CODEC_B(struct pod_container_state, started),
	CODEC_O(struct pod_container_state, now, run_codec),
	CODEC_O(struct pod_container_state, last, run_codec),
	CODEC_I(struct pod_container_state, pid),
	CODEC_I(struct pod_container_state, pid_start),
	CODEC_I(struct pod_container_state, log_dropped),
	CODEC_S(struct pod_container_state, log_problem),
	CODEC_S(struct pod_container_state, problem),
	CODEC_I(struct pod_container_state, problems),
};
static const struct codec container_codec = CODEC(struct pod_container_state, container_fields);

static const struct codec_field state_fields[] = {
	CODEC_E(struct pod_state, life, lives), CODEC_I(struct pod_state, pid),
	CODEC_I(struct pod_state, pid_start),   CODEC_S(struct pod_state, boot),
	CODEC_B(struct pod_state, own_pids),    CODEC_S(struct pod_state, cgroup),
	CODEC_I(struct pod_state, started),     CODEC_I(struct pod_state, ended),
	CODEC_S(struct pod_state, reason),      CODEC_S(struct pod_state, message),
	CODEC_B(struct pod_state, failed),      CODEC_L(struct pod_state, containers, container_codec),
	CODEC_SS(struct pod_state, notes),
};
static const struct codec state_codec = CODEC(struct pod_state, state_fields);

void pod_state_write(const struct pod_state *s, struct buf *out)
{
	CLEANUP(json_mut_docp) yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

	json_write(codec_write(doc, &state_codec, s), out);
}

bool pod_state_parse(struct pod_state *ret, struct str text, struct arena *a, struct err *e)
{
	CLEANUP(json_docp) yyjson_doc *doc = json_parse(text, e);

	return doc && codec_read(&state_codec, ret, yyjson_doc_get_root(doc), a, e);
}

bool pod_state_read(struct pod_state *ret, bool *ret_missing, const char *folder, struct arena *a, struct err *e)
{
	const char *path = arena_printf(a, "%s/state.json", folder).p;
	struct str text;

	*ret_missing = false;
	switch (file_read(&text, path, a, e)) {
	case FILE_READ:
		if (!pod_state_parse(ret, text, a, e))
			return err_wrap(e, "%s", path);
		return true;
	case FILE_MISSING:
		*ret_missing = true;
		memset(ret, 0, sizeof(*ret));
		return true;
	case FILE_FAILED:
		return false;
	}
	BUG("no such result of reading");
}
