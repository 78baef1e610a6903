/* The manifest that `dljob init` prints: comments above the lines that people change. */
#include "base/yaml.h"
#include "client/write.h"

enum { TEXT_MAX = 16 << 20 };

/* A line that begins so, after its blanks, gets the comment the first time that it is there. */
static const struct {
	const char *line;
	const char *comment[3];
} comments[] = {
	{ "kind:", { "The kinds of jobs: dljob kinds", NULL } },
	{ "replicas:",
	  { "The number of replicas. Each is a pod: a process of its own, with a name and an address.", NULL } },
	{ "restartPolicy:", { "The operator restarts pods, as spec.policy or the kind's own fields say.", NULL } },
	{ "image:",
	  { "For a cluster. This machine pulls no images: the command runs in the current directory,",
	    "with the programs that are installed here.", NULL } },
	{ "command:", { "A list, not a line. $(NAME) is a variable of env; $$(NAME) is a literal $(NAME).", NULL } },
	{ "- name: RANK",
	  { "As torchrun sets them, so that torch.distributed.init_process_group() needs no arguments.",
	    "$(NAME) is a variable that the operator sets: dljob render --env FILE shows all of them.", NULL } },
	{ "- name: OMP_NUM_THREADS",
	  { "One thread per replica, as torchrun sets it; raise it if there are cores to spare.", NULL } },
	{ "nvidia.com/gpu:", { "GPUs per replica.", NULL } },
	{ "- name: shm",
	  { "Data loaders with workers need more than a container's default /dev/shm of 64 MiB.", NULL } },
	{ "cleanPods:",
	  { "Keep finished pods for their logs. More settings (docs/policy.md):",
	    "restart: {policy: OnFailure, scope: Job, limit: 3}", "activeDeadlineSeconds: 86400" } },
};

static struct str without_blanks(struct str line, size_t *indent)
{
	*indent = 0;
	while (*indent < line.n && line.p[*indent] == ' ')
		(*indent)++;
	return str_sub(line, *indent, line.n);
}

static void put_comment(struct buf *out, size_t indent, size_t which)
{
	for (size_t i = 0; i < ARRAY_LEN(comments[which].comment) && comments[which].comment[i]; i++)
		buf_printf(out, "%*s# %s\n", (int)indent, "", comments[which].comment[i]);
}

/* Those of the line of WORDS that have not been SAID. */
static void put_comments(struct buf *out, struct str words, size_t indent, bool said[static ARRAY_LEN(comments)])
{
	for (size_t i = 0; i < ARRAY_LEN(comments); i++) {
		if (said[i] || !str_has_prefix(words, str_c(comments[i].line)))
			continue;
		put_comment(out, indent, i);
		said[i] = true;
	}
}

/* Do the lines further in belong to a text? */
static bool opens_literal(struct str words)
{
	return str_has_suffix(words, STR(" |")) || str_has_suffix(words, STR(" |-")) ||
	       str_has_suffix(words, STR(" |+"));
}

void write_explained(yyjson_val *job, struct buf *out)
{
	struct buf text = BUF_INIT(TEXT_MAX);
	bool said[ARRAY_LEN(comments)] = { false }, literal = false;
	size_t indent, literal_indent = 0;
	struct str rest, line;

	yaml_write(job, &text);
	/* Its last line break ends the last line; no empty line is behind it. */
	rest = str_sub(buf_str(&text), 0, text.n - 1);
	while (str_next(&rest, '\n', &line)) {
		struct str words = without_blanks(line, &indent);

		/* A text of several lines is the user's, whatever its lines look like. */
		literal = literal && (!words.n || indent > literal_indent);
		if (!literal) {
			put_comments(out, words, indent, said);
			literal = opens_literal(words);
			literal_indent = indent;
		}
		buf_printf(out, "%.*s\n", STR_F(line));
	}
	buf_release(&text);
}
