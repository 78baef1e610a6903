/* How long does `dljob render` of a large job take, and how much memory? */
#include "bench.h"

#include "base/arena.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char head[] = "apiVersion: mlkube.io/v1beta1\n"
			   "kind: TfJob\n"
			   "metadata: {name: large}\n"
			   "spec:\n"
			   "  replicaSpecs:\n";
static const char role[] = "  - replicas: %d\n"
			   "    tfReplicaType: %s\n"
			   "    template: {spec: {containers: [{name: tensorflow, image: img}]}}\n";

static void write_manifest(const char *path)
{
	FILE *f = fopen(path, "w");

	ASSERT(f);
	fputs(head, f);
	fprintf(f, role, 1, "MASTER");
	fprintf(f, role, 949, "WORKER");
	fprintf(f, role, 50, "PS");
	fclose(f);
}

struct run {
	int status;
	double seconds;
	double megabytes;
};

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static struct run run(const char *dljob, const char *manifest)
{
	struct rusage usage;
	struct run r = { .status = -1 };
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		execl(dljob, dljob, "render", manifest, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &r.status, 0, &usage) != pid)
		return r;
	r.seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	r.megabytes = (double)usage.ru_maxrss / 1024;
	return r;
}

void bench_render(const char *dljob)
{
	char path[] = "/tmp/dl-bench-XXXXXX";
	struct run best = { .seconds = 1e9 };
	int fd = mkstemp(path);

	ASSERT(fd >= 0);
	close(fd);
	write_manifest(path);
	for (int i = 0; i < 7; i++) {
		struct run r = run(dljob, path);

		if (r.status != 0) {
			best.status = r.status;
			break;
		}
		best.seconds = MIN(best.seconds, r.seconds);
		best.megabytes = MAX(best.megabytes, r.megabytes);
	}
	unlink(path);
	if (best.status != 0) {
		bench_broken("dljob render, 1,000 replicas", "failed");
		return;
	}
	bench_result("dljob render, 1,000 replicas", best.seconds * 1e3, LESS_IS_BETTER, 200, "ms");
	bench_result("dljob render, 1,000 replicas, memory", best.megabytes, LESS_IS_BETTER, 100, "MB");
}
