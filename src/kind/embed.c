/* Writes the kinds' files, and those of kinds/lib that they may use, as C arrays (builtin.h): embed OUT FILE…
 *
 * A program of the build, not of the library. It is C so that building needs no interpreter. */
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void give_up(const char *path)
{
	perror(path);
	exit(1);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_lib(const char *path)
{
	return strstr(path, "/lib/") != NULL;
}

static void write_text(FILE *out, const char *path, int i)
{
	FILE *in = fopen(path, "rb");
	if (!in)
		give_up(path);
	fprintf(out, "static const unsigned char text_%d[] = {", i);
	int c;
	for (int at = 0; (c = getc(in)) != EOF; at++)
		fprintf(out, "%s0x%02x,", at % 16 == 0 ? "\n\t" : "", (unsigned)c);
	if (ferror(in))
		give_up(path);
	fputs("\n};\n\n", out);
	fclose(in);
}

/* The rows of the kinds, or those of kinds/lib. */
static void write_rows(FILE *out, const char *name, bool libs, char **files, int n)
{
	fprintf(out, "const struct builtin %s[] = {\n", name);
	for (int i = 0; i < n; i++) {
		if (is_lib(files[i]) != libs)
			continue;
		const char *base = base_of(files[i]);
		int stem = (int)strcspn(base, ".");
		fprintf(out, "\t{ \"kinds/%s%s\", \"%.*s\", text_%d, sizeof(text_%d) },\n", libs ? "lib/" : "", base,
		        stem, base, i, i);
	}
	fprintf(out, "};\nconst size_t n_%s = sizeof(%s) / sizeof(%s[0]);\n", name, name, name);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: embed OUT FILE…\n", stderr);
		return 2;
	}
	FILE *out = fopen(argv[1], "w");
	if (!out)
		give_up(argv[1]);
	fputs("#include \"kind/builtin.h\"\n\n", out);
	for (int i = 2; i < argc; i++)
		write_text(out, argv[i], i - 2);
	write_rows(out, "builtins", false, argv + 2, argc - 2);
	write_rows(out, "builtin_libs", true, argv + 2, argc - 2);
	if (ferror(out) || fclose(out) != 0)
		give_up(argv[1]);
	return 0;
}
