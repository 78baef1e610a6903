#include "program/process.h"

#include <dirent.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t count_fds(void)
{
	struct dirent **list;
	int n = scandir("/proc/self/fd", &list, NULL, alphasort);

	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	/* ".", ".." and the folder itself. */
	return n > 3 ? (uint64_t)n - 3 : 0;
}

/* Seconds since 1970 at which the machine started. */
static double boot_time(void)
{
	struct timespec now, up;

	if (clock_gettime(CLOCK_REALTIME, &now) || clock_gettime(CLOCK_BOOTTIME, &up))
		return 0;
	return (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9;
}

/* The fields of proc(5), counted from the state, which stands behind the name. */
enum { STAT_UTIME = 11, STAT_STIME = 12, STAT_START = 19, STAT_SIZE = 20, STAT_RSS = 21, STAT_FIELDS = 22 };

static bool stat_fields(int64_t ret[static STAT_FIELDS])
{
	FILE *f = fopen("/proc/self/stat", "re");
	char text[1024];
	const char *p;
	struct str rest, field;
	size_t n;

	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	/* The name may hold blanks and parentheses. */
	p = strrchr(text, ')');
	if (!p || p[1] != ' ')
		return false;
	rest = str_c(p + 2);
	for (size_t i = 0; i < STAT_FIELDS; i++)
		if (!str_next(&rest, ' ', &field) || (i > 0 && !str_int(field, &ret[i])))
			return false;
	return true;
}

static void read_stat(struct metrics_process *ret)
{
	double ticks = (double)sysconf(_SC_CLK_TCK);
	int64_t fields[STAT_FIELDS];

	if (!stat_fields(fields) || ticks <= 0)
		return;
	ret->cpu_seconds = (double)(fields[STAT_UTIME] + fields[STAT_STIME]) / ticks;
	ret->start_seconds = boot_time() + (double)fields[STAT_START] / ticks;
	ret->virtual_size = (uint64_t)fields[STAT_SIZE];
	ret->resident = (uint64_t)fields[STAT_RSS] * (uint64_t)sysconf(_SC_PAGESIZE);
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
