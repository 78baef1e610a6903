#include "http/testing_tls.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two authorities; certificates for this machine's address, for a name, and of a client. */
static const char make_certificates[] =
	"set -e\n"
	"new='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -x509'\n"
	"authority() { openssl req $new -keyout $1.key -out $1.pem -subj /CN=$1; }\n"
	"of() { ca=$1; shift; openssl req $new -CA $ca.pem -CAkey $ca.key -keyout $1.key -out $1.pem -subj /CN=$1 \\\n"
	"  -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=$2; }\n"
	"authority ca; authority other\n"
	"of ca address IP:127.0.0.1\n"
	"of ca name DNS:api.cluster.test\n"
	"of ca client DNS:client\n"
	"of other stranger DNS:client\n";

static char scratch[64];

static void must_succeed(void *cookie, const struct loop_process_result *r)
{
	(void)cookie;
	if (r->exit_status)
		BUG("openssl: %s %.*s", r->problem ? r->problem : "", STR_F(r->err));
}

int testing_certificates(void **state)
{
	static const char *const argv[] = { "sh", "-c", make_certificates, NULL };
	static const struct loop_process_spec spec = { .argv = argv, .timeout = MINUTES(1), .output_max = 65536 };
	struct loop *l = loop_new();
	struct loop_process *p;

	(void)state;
	snprintf(scratch, sizeof(scratch), "/tmp/dl-tls-XXXXXX");
	ASSERT(mkdtemp(scratch));
	ASSERT(chdir(scratch) == 0);
	p = loop_process_start(l, &spec, must_succeed, NULL);
	loop_run(l);
	loop_process_free(p);
	loop_free(l);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int testing_remove_certificates(void **state)
{
	(void)state;
	ASSERT(chdir("/") == 0);
	return nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* What openssl s_server gets beside its port. */
static const char *const *server_argv;
static int server_out;

static void serve_tls(int listener)
{
	const char *argv[32] = { "openssl", "s_server", "-accept", "127.0.0.1:0", "-www" };
	size_t n = 5;

	close(listener);
	for (size_t i = 0; server_argv[i]; i++)
		argv[n++] = server_argv[i];
	dup2(server_out, 1);
	dup2(open("/dev/null", O_RDWR), 2);
	execvp(argv[0], (char **)argv);
	_exit(127);
}

int testing_serve_tls(const char *const *argv)
{
	char line[256];
	size_t n = 0;
	int out[2];

	ASSERT(pipe2(out, O_CLOEXEC) == 0);
	server_argv = argv;
	server_out = out[1];
	testing_serve(serve_tls);
	close(out[1]);
	/* Ours is left open: the server goes on to write. */
	while (n + 1 < sizeof(line) && read(out[0], &line[n], 1) == 1) {
		if (line[n++] != '\n')
			continue;
		line[n] = 0;
		n = 0;
		if (strncmp(line, "ACCEPT 127.0.0.1:", 17) == 0)
			return (int)strtol(line + 17, NULL, 10);
	}
	BUG("openssl s_server did not start");
}

struct str testing_pem(const char *name, const char *ending)
{
	static char kept[8][8192];
	static size_t next;
	char path[128];
	char *b = kept[next++ % ARRAY_LEN(kept)];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s.%s", name, ending);
	f = fopen(path, "r");
	ASSERT(f);
	n = fread(b, 1, 8192, f);
	fclose(f);
	return (struct str){ b, n };
}
