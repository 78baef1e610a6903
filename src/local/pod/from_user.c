/* securityContext: as whom a container runs, and what of it has no effect here. */
#include "local/pod/from.h"

#include "base/buf.h"
#include "base/json.h"

enum { NOTE_MAX = 512 };

/* Fields that change nothing on this machine, with what they may say without being missed. */
static const struct {
	const char *field, *harmless; /* JSON; NULL: whatever it says is missed */
} without_effect[] = {
	{ "privileged", "false" },
	{ "allowPrivilegeEscalation", "true" },
	{ "readOnlyRootFilesystem", "false" },
	{ "capabilities", "{}" },
	{ "procMount", "\"Default\"" },
	{ "seccompProfile", "{\"type\":\"Unconfined\"}" },
	{ "appArmorProfile", "{\"type\":\"Unconfined\"}" },
	{ "seLinuxOptions", "{}" },
	{ "seLinuxChangePolicy", NULL },
	{ "windowsOptions", "{}" },
	{ "fsGroup", NULL },
	{ "fsGroupChangePolicy", NULL },
	{ "supplementalGroups", "[]" },
	{ "supplementalGroupsPolicy", NULL },
	{ "sysctls", "[]" },
};

static bool is_harmless(yyjson_val *v, const char *harmless)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT(NOTE_MAX);

	if (!v || yyjson_is_null(v))
		return true;
	if (!harmless)
		return false;
	json_write_val(v, &text);
	return !text.overflow && str_eqc(buf_str(&text), harmless);
}

static bool is_missed(const struct from *f, const char *field, const char *harmless)
{
	static const char *const lists[] = { "initContainers", "containers" };
	yyjson_val *spec = json_get(f->pod, "spec"), *c;
	size_t i, max;

	if (!is_harmless(json_at(spec, "securityContext", field, NULL), harmless))
		return true;
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		yyjson_arr_foreach(json_get(spec, lists[k]), i, max, c)
		{
			if (!is_harmless(json_at(c, "securityContext", field, NULL), harmless))
				return true;
		}
	return false;
}

void from_say_without_effect(struct from *f)
{
	struct buf note = BUF_INIT(NOTE_MAX);

	for (size_t i = 0; i < ARRAY_LEN(without_effect); i++)
		if (is_missed(f, without_effect[i].field, without_effect[i].harmless))
			buf_printf(&note, "%s%s", note.n ? ", " : "", without_effect[i].field);
	if (note.n)
		*vec_push(f->a, &f->spec->notes) = arena_printf(
			f->a, "securityContext: no effect on this machine, where pods run with your rights: %.*s",
			STR_F(buf_str(&note)));
	buf_release(&note);
}

/* The container's own word counts before the pod's. */
bool from_user(struct from *f, struct pod_container *c, yyjson_val *container)
{
	yyjson_val *all[] = { json_at(f->pod, "spec", "securityContext", NULL),
		              json_get(container, "securityContext") };
	bool not_root = false;

	c->uid = c->gid = -1;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		yyjson_val *v = json_get(all[i], "runAsNonRoot");

		if (!from_int(f, &c->uid, all[i], "runAsUser", 0, INT32_MAX) ||
		    !from_int(f, &c->gid, all[i], "runAsGroup", 0, INT32_MAX))
			return from_at(f, "securityContext");
		if (yyjson_is_bool(v))
			not_root = yyjson_is_true(v);
	}
	if (!not_root)
		return true;
	if (c->uid == 0)
		return from_invalid(f, "securityContext.runAsNonRoot: runAsUser is 0, which is root");
	if (f->o->as_root && !(f->o->any_user && c->uid > 0))
		return from_invalid(f, "securityContext.runAsNonRoot: the container would be root on this machine: %s",
		                    f->o->any_user ? "name another user with runAsUser"
		                                   : "only an ordinary user can run it here");
	return true;
}
