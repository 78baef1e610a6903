/* Every case of kinds/golden: one test each. Arguments: only the cases whose path contains one of them. */
#include "golden.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MAX_CASES = 1000 };

/* Those that stay empty are no tests. */
static struct CMUnitTest tests[MAX_CASES];
static size_t n_tests;
static struct arena arena = ARENA_INIT;

static void run(void **state)
{
	struct buf out = BUF_INIT(4 << 20);
	const char *file = *state;
	FILE *f = fopen(file, "r");
	char *text = xcalloc(1, YAML_MAX_BYTES);
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, YAML_MAX_BYTES, f);
	fclose(f);
	n = golden_run(SOURCE_ROOT, str_c(file + strlen(SOURCE_ROOT "/")), (struct str){ text, n }, &out);
	free(text);
	if (n) {
		struct str rest = buf_str(&out), line;

		while (str_next(&rest, '\n', &line))
			print_message("# %.*s\n", STR_F(line));
		buf_release(&out);
		fail_msg("%zu differences", n);
	}
	buf_release(&out);
}

static bool wanted(const char *path, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(path, argv[i]))
			return true;
	return argc < 2;
}

/* A folder without cases is a mistake. */
static void no_cases(void **state)
{
	fail_msg("%s: no cases", (const char *)*state);
}

static void add(const char *path, CMUnitTestFunction fn)
{
	const char *copy = arena_str(&arena, str_c(path)).p;

	ASSERT(n_tests < MAX_CASES);
	tests[n_tests++] = (struct CMUnitTest){ .name = copy + strlen(SOURCE_ROOT "/"),
		                                .test_func = fn,
		                                .initial_state = (void *)(uintptr_t)copy };
}

static int is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void add_folder(const char *dir, int argc, char **argv)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, is_visible, alphasort), cases = 0;

	for (int i = 0; i < n; i++) {
		const char *path = arena_printf(&arena, "%s/%s", dir, list[i]->d_name).p;

		if (str_has_suffix(str_c(path), STR(".yaml"))) {
			cases++;
			if (wanted(path, argc, argv))
				add(path, run);
		}
		free(list[i]);
	}
	free(list);
	if (!cases)
		add(dir, no_cases);
}

static void add_folders(const char *dir, int argc, char **argv)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, is_visible, alphasort), folders = 0;

	for (int i = 0; i < n; i++) {
		const char *path = arena_printf(&arena, "%s/%s", dir, list[i]->d_name).p;

		if (list[i]->d_type == DT_DIR) {
			folders++;
			add_folder(path, argc, argv);
		}
		free(list[i]);
	}
	free(list);
	if (!folders)
		add(dir, no_cases);
}

int main(int argc, char **argv)
{
	add_folders(SOURCE_ROOT "/kinds/golden", argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
