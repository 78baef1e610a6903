#include "cli/operator_process.h"

#include <dirent.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint64_t n = 0;

	if (!d)
		return 0;
	while (readdir(d))
		n++;
	closedir(d);
	/* ".", ".." and the folder itself. */
	return n > 3 ? n - 3 : 0;
}

/* Seconds since 1970 at which the machine started. */
static double boot_time(void)
{
	struct timespec now, up;

	if (clock_gettime(CLOCK_REALTIME, &now) || clock_gettime(CLOCK_BOOTTIME, &up))
		return 0;
	return (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9;
}

/* utime, stime, starttime, vsize and rss are the fields 14, 15, 22, 23 and 24; the name may hold blanks, so the
   count begins behind its last parenthesis. */
static void read_stat(struct metrics_process *ret)
{
	FILE *f = fopen("/proc/self/stat", "re");
	unsigned long long utime = 0, stime = 0, start = 0, size = 0;
	double ticks = (double)sysconf(_SC_CLK_TCK);
	long long rss = 0;
	char text[1024];
	const char *p;
	size_t n;

	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	p = strrchr(text, ')');
	if (!p || ticks <= 0 ||
	    sscanf(p + 1,
	           " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu %llu %lld",
	           &utime, &stime, &start, &size, &rss) != 5)
		return;
	ret->cpu_seconds = (double)(utime + stime) / ticks;
	ret->start_seconds = boot_time() + (double)start / ticks;
	ret->virtual_size = size;
	ret->resident = (uint64_t)rss * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct metrics_process process_numbers(void)
{
	struct metrics_process p = { 0 };
	struct rlimit limit;

	read_stat(&p);
	p.open_fds = count_fds();
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		p.max_fds = limit.rlim_cur;
	return p;
}

uint64_t process_seed(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = (uint64_t)getpid();
	return seed;
}

const char *process_identity(char *buf, size_t size)
{
	const char *pod = getenv("MY_POD_NAME");
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) || !*host)
		snprintf(host, sizeof(host), "dl-operator");
	snprintf(buf, size, "%s_%016llx", pod && *pod ? pod : host, (unsigned long long)process_seed());
	return buf;
}
