/* dljob completion, and what its scripts ask: dljob __complete. The answer is a line for each candidate, with a tab
   before what is said about it, and at the end what the shell shall do itself, in the numbers that kubectl gives its
   plugins: ":4" nothing, ":0" files, ":16" folders. */
#include "cli/commands.h"
#include "client/gather.h"
#include "client/view.h"
#include "term/plain.h"

static const msec ask_timeout = SECONDS(2);

enum shell { SHELL_NOTHING = 4, SHELL_FILES = 0, SHELL_FOLDERS = 16 };

enum { OPTS_MAX = 40 };

struct completing {
	struct cli *cli;
	char **words; /* after "dljob"; the last one is being typed */
	int n;
	const char *word;
	const struct cli_command *command;
	struct opt opts[OPTS_MAX];
	size_t n_opts;
};

static void candidate(const struct completing *c, struct str prefix, struct str text, const char *about)
{
	struct arena a = ARENA_INIT;
	struct str whole = arena_printf(&a, "%.*s%.*s", STR_F(prefix), STR_F(text));

	if (str_has_prefix(whole, str_c(c->word))) {
		/* A shell reads it: one line, and a tab that is ours. */
		plain_put(whole, stdout);
		if (about)
			putchar('\t');
		plain_put(str_c(about), stdout);
		putchar('\n');
	}
	arena_release(&a);
}

static void keep_opts(void *cookie, const struct opt *opts, size_t n)
{
	struct completing *c = cookie;

	c->n_opts = MIN(n, (size_t)OPTS_MAX);
	memcpy(c->opts, opts, c->n_opts * sizeof(*opts));
}

/* The option that WORD is: --name, --name=value, -n. */
static const struct opt *option_of(const struct completing *c, const char *word)
{
	struct str rest = str_c(word), name;

	for (size_t i = 0; i < c->n_opts; i++) {
		const struct opt *o = &c->opts[i];

		if (word[0] == '-' && o->letter && word[1] == o->letter && !word[2])
			return o;
		rest = str_c(word);
		if (str_has_prefix(rest, STR("--")) && str_next(&rest, '=', &name) &&
		    str_eqc(str_sub(name, 2, name.n), o->name))
			return o;
	}
	return NULL;
}

/* Does the word stand for the value of the one before? */
static bool is_value(const struct completing *c, int i)
{
	const struct opt *o = i > 0 ? option_of(c, c->words[i - 1]) : NULL;

	return o && o->value && !strchr(c->words[i - 1], '=');
}

/* What an option was given so far; NULL: nothing. */
static const char *value_of(const struct completing *c, const char *name)
{
	for (int i = 0; i + 1 < c->n; i++) {
		const struct opt *o = option_of(c, c->words[i]);
		const char *equals = strchr(c->words[i], '=');

		if (!o || strcmp(o->name, name) != 0 || is_value(c, i))
			continue;
		if (equals || !o->value)
			return equals ? equals + 1 : "";
		/* The one that is being typed is not said yet. */
		if (i + 2 < c->n)
			return c->words[i + 1];
	}
	return NULL;
}

static bool open_remote(const struct completing *c, struct cli_session *s)
{
	s->cli = c->cli;
	s->flags = (struct remote_flags){ .kubeconfig = value_of(c, "kubeconfig"),
		                          .context = value_of(c, "context"),
		                          .ns = value_of(c, "namespace"),
		                          .local = value_of(c, "local") != NULL };
	if (!session_find(s, true))
		return false;
	s->remote.deadline = loop_now(s->remote.loop) + ask_timeout;
	return true;
}

/* KIND/NAME only if that was begun. */
static void job_names(const struct completing *c)
{
	struct cli_session s = { 0 };
	struct job_list jobs = { 0 };

	if (open_remote(c, &s) && jobs_list(&s.remote, s.kinds, &(struct job_query){ .ns = s.remote.ns }, &jobs)) {
		for (size_t i = 0; i < jobs.jobs.n; i++) {
			struct job_view v = job_view(jobs.jobs.v[i].root);
			struct str kind = arena_printf(&s.remote.arena, "%.*s/", STR_F(jobs.jobs.v[i].kind->id));
			struct str about = arena_printf(&s.remote.arena, "%.*s %.*s", STR_F(jobs.jobs.v[i].kind->kind),
			                                STR_F(v.state));

			candidate(c, strchr(c->word, '/') ? kind : STR_NONE, v.name, about.p);
		}
	}
	job_list_release(&jobs);
	session_end(&s);
}

/* Those that run. */
static void replicas_of(const struct completing *c, struct gathered *d, struct str prefix, const char *end)
{
	(void)end;
	for (size_t i = 0; i < d->tree.n_pods; i++) {
		const struct pod *p = &d->tree.pods[i];

		if (p->phase == POD_RUNNING && p->role.n)
			candidate(c, prefix, arena_printf(&d->arena, "%.*s-%d", STR_F(p->role), p->index), NULL);
	}
}

static void roles_of(const struct completing *c, struct gathered *d, struct str prefix, const char *end)
{
	for (size_t i = 0; i < d->tree.job->n_roles; i++) {
		const struct role *r = &d->tree.job->roles[i];

		/* Companions are not scaled. */
		if (!*end || !r->aux)
			candidate(c, prefix, arena_printf(&d->arena, "%.*s%s", STR_F(r->name), end), NULL);
	}
}

typedef void (*offer_fn)(const struct completing *c, struct gathered *d, struct str prefix, const char *end);

/* What the job has whose name stands before it. */
static void parts_of_job(const struct completing *c, offer_fn offer, struct str prefix, const char *end)
{
	struct cli_session s = { 0 };
	struct job_found f;
	struct gathered d;
	int at = 0;

	if (!strstr(c->command->operands, "KIND/]NAME"))
		return;
	while (at + 1 < c->n && (c->words[at][0] == '-' || is_value(c, at)))
		at++;
	if (at + 1 < c->n && open_remote(c, &s) && job_find(&s.remote, s.kinds, c->words[at], &f)) {
		if (gather_job(&s, &f, &d))
			offer(c, &d, prefix, end);
		gathered_release(&d);
		job_found_release(&f);
	}
	session_end(&s);
}

static void namespaces(const struct completing *c)
{
	struct cli_session s = { 0 };
	struct remote_list list = { .resource = { STR_NONE, STR("v1"), STR("namespaces"), false } };

	if (open_remote(c, &s) && remote_lists(&s.remote, &list, 1))
		for (size_t i = 0; i < list.items.n; i++)
			candidate(c, STR_NONE, json_str(json_at(list.items.v[i], "metadata", "name", NULL)), NULL);
	remote_list_release(&list);
	session_end(&s);
}

static void kinds(const struct completing *c)
{
	CLEANUP(kinds_freep) struct kinds *k = cli_kinds(c->cli);

	for (size_t i = 0; k && i < kinds_count(k); i++)
		candidate(c, STR_NONE, kind_title(k, kinds_at(k, i)), NULL);
}

static void states(const struct completing *c, struct str prefix)
{
	candidate(c, prefix, STR("Waiting"), NULL);
	candidate(c, prefix, STR("Deleting"), NULL);
	for (int p = PHASE_INVALID; p < PHASE_OTHER; p++)
		candidate(c, prefix, str_c(phase_name((enum phase)p)), NULL);
}

static void command_names(const struct completing *c)
{
	for (const struct cli_command *one = commands; one->name; one++)
		if (one->summary)
			candidate(c, STR_NONE, str_c(one->name), one->summary);
}

static bool mentions(struct str text, const char *word)
{
	return memmem(str_text(text), text.n, word, strlen(word)) != NULL;
}

/* What may stand where --help writes WHAT: FILE…, [KIND/]NAME, up|down … */
static enum shell complete_as(const struct completing *c, struct str what, struct str prefix)
{
	struct str one;

	if (mentions(what, "FILE"))
		return SHELL_FILES;
	if (mentions(what, "DIR"))
		return SHELL_FOLDERS;
	if (mentions(what, "|"))
		while (str_next(&what, '|', &one))
			candidate(c, prefix, one, NULL);
	else if (mentions(what, "KIND/]NAME"))
		job_names(c);
	else if (mentions(what, "KIND"))
		kinds(c);
	else if (str_eqc(what, "REPLICA"))
		parts_of_job(c, replicas_of, prefix, "");
	else if (str_eqc(what, "ROLE"))
		parts_of_job(c, roles_of, prefix, "");
	else if (str_has_prefix(what, STR("ROLE=")))
		parts_of_job(c, roles_of, prefix, "=");
	else if (mentions(what, "COMMAND"))
		command_names(c);
	else if (mentions(what, "STATE"))
		states(c, prefix);
	else if (str_eqc(what, "NS"))
		namespaces(c);
	return SHELL_NOTHING;
}

static void option_names(const struct completing *c)
{
	for (size_t i = 0; i < c->n_opts; i++)
		candidate(c, STR("--"), str_c(c->opts[i].name), c->opts[i].help);
}

/* Which operand the last word is: the table's text has a blank between them, the last one goes for all that follow. */
static struct str operand(const struct completing *c)
{
	struct str rest = str_c(c->command->operands), part = STR_NONE, next;
	int at = 0;

	for (int i = 0; i + 1 < c->n; i++)
		at += c->words[i][0] != '-' && !is_value(c, i);
	for (; str_next(&rest, ' ', &next); at--) {
		if (at < 0)
			break;
		part = next;
	}
	/* More than it takes. */
	if (at >= 1 && !mentions(part, "…"))
		return STR_NONE;
	return part;
}

static enum shell complete_argument(struct completing *c)
{
	const char *equals = strchr(c->word, '=');
	const struct opt *o;

	c->cli->describe = keep_opts;
	c->cli->describe_cookie = c;
	command_describe(c->cli, c->command);
	c->cli->describe = NULL;
	if (is_value(c, c->n - 1))
		return complete_as(c, str_c(option_of(c, c->words[c->n - 2])->value), STR_NONE);
	o = equals ? option_of(c, c->word) : NULL;
	if (o && o->value)
		return complete_as(c, str_c(o->value), (struct str){ c->word, (size_t)(equals - c->word) + 1 });
	if (c->word[0] == '-') {
		option_names(c);
		return SHELL_NOTHING;
	}
	return complete_as(c, operand(c), STR_NONE);
}

enum exit_code cmd_complete(struct cli *cli, int argc, char **argv)
{
	struct completing c = { .cli = cli, .words = argv, .n = argc };
	enum shell shell = SHELL_NOTHING;

	/* The words are somebody else's: none of them is an option of this command. */
	if (c.n > 0 && !strcmp(c.words[0], "--")) {
		c.words++;
		c.n--;
	}
	c.word = c.n ? c.words[c.n - 1] : "";
	if (c.n > 1) {
		c.command = command_find(str_c(c.words[0]));
		c.words++;
		c.n--;
		if (c.command && c.command->summary)
			shell = complete_argument(&c);
	} else {
		command_names(&c);
	}
	printf(":%d\n", shell);
	return CLI_OK;
}

static const char bash_script[] =
	"# bash completion of dljob: dljob completion bash\n"
	"_dljob() {\n"
	"  local words=() i line rest directive cur\n"
	"  # bash takes --name=value apart.\n"
	"  for ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"    if [[ ${COMP_WORDS[i]} == = && ${#words[@]} -gt 0 ]]; then\n"
	"      words[-1]+==\n"
	"    elif [[ ${#words[@]} -gt 0 && ${words[-1]} == --*= && ${COMP_WORDS[i - 1]} == = ]]; then\n"
	"      words[-1]+=${COMP_WORDS[i]}\n"
	"    else\n"
	"      words+=(\"${COMP_WORDS[i]}\")\n"
	"    fi\n"
	"  done\n"
	"  cur=${COMP_WORDS[COMP_CWORD]}\n"
	"  [[ $cur == = ]] && cur=\n"
	"  COMPREPLY=()\n"
	"  while IFS= read -r line; do\n"
	"    case $line in\n"
	"    :*) directive=$line ;;\n"
	"    *)\n"
	"      line=${line%%$'\\t'*}\n"
	"      [[ ${words[-1]} == --*=* ]] && line=${line#*=}\n"
	"      COMPREPLY+=(\"$line\")\n"
	"      ;;\n"
	"    esac\n"
	"  done < <(\"${COMP_WORDS[0]}\" __complete -- \"${words[@]}\" 2>/dev/null)\n"
	"  case $directive in\n"
	"  :0) while IFS= read -r rest; do COMPREPLY+=(\"$rest\"); done < <(compgen -f -- \"$cur\") ;;\n"
	"  :16) while IFS= read -r rest; do COMPREPLY+=(\"$rest\"); done < <(compgen -d -- \"$cur\") ;;\n"
	"  esac\n"
	"  [[ $directive == :4 ]] || compopt -o filenames 2>/dev/null\n"
	"}\n"
	"complete -F _dljob dljob\n";

static const char zsh_script[] =
	"#compdef dljob\n"
	"# zsh completion of dljob: dljob completion zsh\n"
	"_dljob() {\n"
	"  local line directive\n"
	"  local -a found\n"
	"  while IFS= read -r line; do\n"
	"    case $line in\n"
	"    :*) directive=$line ;;\n"
	"    *$'\\t'*) found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
	"    *) found+=(\"${line//:/\\\\:}\") ;;\n"
	"    esac\n"
	"  done < <(\"${words[1]}\" __complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
	"  (( ${#found} )) && _describe dljob found\n"
	"  case $directive in\n"
	"  :0) _files ;;\n"
	"  :16) _files -/ ;;\n"
	"  esac\n"
	"}\n"
	"if [ \"$funcstack[1]\" = _dljob ]; then _dljob \"$@\"; else compdef _dljob dljob; fi\n";

enum exit_code cmd_completion(struct cli *cli, int argc, char **argv)
{
	int n = cli_parse(cli, NULL, 0, argc, argv);

	if (n < 0)
		return cli->status;
	if (n == 1 && !strcmp(argv[0], "bash"))
		fputs(bash_script, stdout);
	else if (n == 1 && !strcmp(argv[0], "zsh"))
		fputs(zsh_script, stdout);
	else
		return cli_usage(cli, "which shell? bash or zsh");
	return CLI_OK;
}
