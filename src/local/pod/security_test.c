/* Every field of securityContext has an effect, or is said and stands on the page; none is forgotten when Kubernetes
   has a new one. */
#include "local/pod/pod.h"

#include "base/file.h"
#include "base/json.h"
#include "base/yaml.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static const char *const effective[] = { "runAsUser", "runAsGroup", "runAsNonRoot" };

/* In the order in which they are said. */
static const struct {
	const char *field;
	const char *missed;   /* a value that somebody relies on */
	const char *harmless; /* a value that nobody misses; NULL: there is none */
} without[] = {
	{ "privileged", "true", "false" },
	{ "allowPrivilegeEscalation", "false", "true" },
	{ "readOnlyRootFilesystem", "true", "false" },
	{ "capabilities", "{drop: [ALL]}", "{}" },
	{ "procMount", "Unmasked", "Default" },
	{ "seccompProfile", "{type: RuntimeDefault}", "{type: Unconfined}" },
	{ "appArmorProfile", "{type: RuntimeDefault}", "{type: Unconfined}" },
	{ "seLinuxOptions", "{level: 's0:c1,c2'}", "{}" },
	{ "seLinuxChangePolicy", "Recursive", NULL },
	{ "windowsOptions", "{hostProcess: true}", "{}" },
	{ "fsGroup", "0", NULL },
	{ "fsGroupChangePolicy", "Always", NULL },
	{ "supplementalGroups", "[7]", "[]" },
	{ "supplementalGroupsPolicy", "Strict", NULL },
	{ "sysctls", "[{name: net.core.somaxconn, value: '1'}]", "[]" },
};

static struct str text_of(const char *path, struct arena *a)
{
	struct err e = ERR_INIT;
	struct str text;

	if (file_read(&text, path, a, &e) != FILE_READ)
		fail_msg("%s: %s", path, err_msg(&e));
	return text;
}

/* What is said of FIELD: VALUE, at the pod or at one of its containers; empty: nothing. */
static struct str note_of(struct arena *a, const char *where, const char *field, const char *value)
{
	static const char *const none[] = { NULL };
	const char *c = arena_printf(a, "securityContext: {%s: %s}", field, value).p;
	bool pod = str_eqc(str_c(where), "pod"), init = str_eqc(str_c(where), "init");
	struct str yaml =
		arena_printf(a,
	                     "metadata: {name: p, namespace: ns, uid: u}\n"
	                     "spec:\n"
	                     "  %s\n"
	                     "  initContainers: [{name: i, command: [a], %s}]\n"
	                     "  containers: [{name: m, command: [a], %s}]\n",
	                     pod ? c : "hostIPC: false", init ? c : "tty: false", !pod && !init ? c : "tty: false");
	struct pod_from_options o = { .env = none, .node = STR("here") };
	struct err e = ERR_INIT;
	struct yaml_file *file = yaml_parse(STR("test"), yaml, &e);
	struct pod_refusal why;
	struct pod_spec spec = { 0 };
	struct str note = STR_NONE;

	if (!file || !pod_from(&spec, yaml_root(file, 0), &o, a, &why, &e))
		fail_msg("%s: %s: %s", field, value, err_msg(&e));
	assert_true(spec.notes.n <= 1);
	if (spec.notes.n)
		note = arena_str(a, spec.notes.v[0]);
	yaml_close(file);
	return note;
}

static void expect_note(const char *where, const char *field, const char *value, bool said)
{
	struct arena a = ARENA_INIT;
	struct str want = arena_printf(
		&a, "securityContext: no effect on this machine, where pods run with your rights: %s", field);
	struct str note = note_of(&a, where, field, value);

	if (!str_eq(note, said ? want : STR_NONE))
		fail_msg("%s: %s at %s: said \"%.*s\"", field, value, where, STR_F(note));
	arena_release(&a);
}

static void test_each_is_said(void **state)
{
	static const char *const where[] = { "pod", "init", "container" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(without); i++)
		for (size_t k = 0; k < ARRAY_LEN(where); k++) {
			expect_note(where[k], without[i].field, without[i].missed, true);
			expect_note(where[k], without[i].field, "null", false);
			if (without[i].harmless)
				expect_note(where[k], without[i].field, without[i].harmless, false);
		}
}

static bool is_without(struct str field)
{
	for (size_t i = 0; i < ARRAY_LEN(without); i++)
		if (str_eqc(field, without[i].field))
			return true;
	return false;
}

static bool is_effective(struct str field)
{
	for (size_t i = 0; i < ARRAY_LEN(effective); i++)
		if (str_eqc(field, effective[i]))
			return true;
	return false;
}

/* The fields of TYPE in the table that is made from Kubernetes' own description. Returns how many there are. */
static size_t check_fields(struct str table, const char *type)
{
	struct arena a = ARENA_INIT;
	const char *at = strstr(table.p, arena_printf(&a, "\t/* %s */\n", type).p);
	struct str rest, line;
	size_t n = 0;

	assert_non_null(at);
	rest = str_c(strchr(at, '\n') + 1);
	while (str_next(&rest, '\n', &line) && str_has_prefix(line, STR("\t{ \""))) {
		struct str field = str_sub(line, 4, line.n), name;

		assert_true(str_next(&field, '"', &name));
		if (is_effective(name) == is_without(name))
			fail_msg("%s.%.*s: has it an effect here? then say so in this test; else in from_user.c and "
			         "docs/pods.md",
			         type, STR_F(name));
		n++;
	}
	arena_release(&a);
	return n;
}

static void test_every_field_is_known(void **state)
{
	struct arena a = ARENA_INIT;
	struct str table = text_of(POD_FIELDS, &a);

	(void)state;
	assert_true(check_fields(table, "SecurityContext") > 10);
	assert_true(check_fields(table, "PodSecurityContext") > 10);
	for (size_t i = 0; i < ARRAY_LEN(without); i++)
		assert_non_null(strstr(table.p, arena_printf(&a, "\t{ \"%s\",", without[i].field).p));
	arena_release(&a);
}

/* The sentence of the page names the same fields. */
static void test_the_page_names_them(void **state)
{
	static const char before[] = "which of these it sets without effect:";
	struct arena a = ARENA_INIT;
	struct str page = text_of(PODS_PAGE, &a), list, name;
	const char *at = strstr(page.p, before), *end = at ? strchr(at, '.') : NULL;
	size_t n = 0;

	(void)state;
	assert_non_null(end);
	list = (struct str){ at + strlen(before), (size_t)(end - at) - strlen(before) };
	while (str_next(&list, '`', &name)) {
		if (!str_next(&list, '`', &name))
			break;
		if (n == ARRAY_LEN(without) || !str_eqc(name, without[n].field))
			fail_msg("the page names %.*s as number %zu", STR_F(name), n);
		n++;
	}
	assert_int_equal(n, ARRAY_LEN(without));
	for (size_t i = 0; i < ARRAY_LEN(effective); i++) {
		const char *has = strstr(page.p, arena_printf(&a, "`%s`", effective[i]).p);

		assert_true(has && has < at);
	}
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_said),
		cmocka_unit_test(test_every_field_is_known),
		cmocka_unit_test(test_the_page_names_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
