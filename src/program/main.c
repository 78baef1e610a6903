/* dl-operator: flags, then the program. */
#include "base/log.h"
#include "program/flags.h"
#include "program/program.h"
#include "term/plain.h"

#include <signal.h>

static int usage(struct err *e)
{
	plain_printf(stderr, "dl-operator: %s (try 'dl-operator --help')\n", err_msg(e));
	err_release(e);
	return 2;
}

static int run_operator(struct operator_flags *f, int argc, char **argv)
{
	struct err e = ERR_INIT;
	bool only_crds;

	if (!operator_flags_parse(f, argc, argv, &e))
		return usage(&e);
	if (f->help) {
		operator_flags_help(stdout);
		return 0;
	}
	if (f->man) {
		operator_flags_man(stdout);
		return 0;
	}
	if (f->version) {
		printf("dl-operator %s\n", DL_VERSION);
		return 0;
	}
	only_crds = f->n_operands > 0 && !strcmp(argv[0], "install-crds");
	if (f->n_operands > (only_crds ? 1 : 0)) {
		err_set(&e, ERR_INVALID, "unexpected argument '%s'", argv[only_crds ? 1 : 0]);
		return usage(&e);
	}
	log_setup(f->json_log ? LOG_JSON : LOG_TEXT, f->verbosity >= 2 ? LOG_DEBUG : LOG_INFO, NULL);
	for (size_t i = 0; i < f->idle.n; i++)
		log_warn(FIELDS(F_STR("flag", str_c(f->idle.v[i]))), "has no effect: %s",
		         operator_flag_idle_reason(f->idle.v[i]));
	signal(SIGPIPE, SIG_IGN);
	return program_run(f, only_crds);
}

int main(int argc, char **argv)
{
	struct operator_flags f;
	int status;

	operator_flags_init(&f);
	status = run_operator(&f, argc - 1, argv + 1);
	operator_flags_release(&f);
	if (fflush(stdout) && !status)
		status = 1;
	return status;
}
