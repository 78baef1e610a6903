#include "client/top.h"

#include "client/exec.h"
#include "client/gather.h"
#include "object/quantity.h"
#include "term/table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum top_column { TOP_REPLICA, TOP_CPU, TOP_MEMORY, TOP_GPU, TOP_GPU_MEMORY, TOP_POD, TOP_COLUMNS };
enum { OUTPUT_MAX = 16 << 10, GPU_TIMEOUT_MS = 10000 };

static const struct kube_resource pod_metrics = { STR_INIT("metrics.k8s.io"), STR_INIT("v1beta1"), STR_INIT("pods"),
	                                          true };

/* Both in thousandths; false: nothing is known of the pod. */
static bool measured(const struct remote_list *metrics, struct str pod, int64_t *cpu, int64_t *memory)
{
	yyjson_val *c;
	int64_t n;
	size_t k, max;

	*cpu = *memory = 0;
	for (size_t i = 0; i < metrics->items.n; i++) {
		if (!str_eq(json_str(json_at(metrics->items.v[i], "metadata", "name", NULL)), pod))
			continue;
		yyjson_arr_foreach(json_get(metrics->items.v[i], "containers"), k, max, c)
		{
			if (quantity_read(json_at(c, "usage", "cpu", NULL), &n))
				*cpu += n;
			if (quantity_read(json_at(c, "usage", "memory", NULL), &n))
				*memory += n;
		}
		return true;
	}
	return false;
}

/* What ARGV writes in POD, at most OUTPUT_MAX bytes of it; empty: it failed. */
static struct str output_of(struct cli_session *s, const struct job_found *f, struct str pod, const char *const *argv)
{
	struct remote *r = &s->remote;
	struct exec_call c = { .ns = f->ns, .pod = pod, .command = argv, .in = -1, .err = -1 };
	char *text = arena_array(&r->arena, char, OUTPUT_MAX + 1);
	int status = 1, fd = memfd_create("top", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct str ret = STR_NONE;
	ssize_t n;

	while (argv[c.n_command])
		c.n_command++;
	/* More than that cannot be written into it, whatever the replica sends. */
	if (fd >= 0 && ftruncate(fd, OUTPUT_MAX) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == 0) {
		c.out = fd;
		r->deadline = loop_now(r->loop) + GPU_TIMEOUT_MS;
		if (exec_run(r, &c, &status) && status == 0) {
			n = pread(fd, text, OUTPUT_MAX, 0);
			ret = str_c(n > 0 ? text : "");
		}
		r->deadline = NEVER;
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Those that CUDA shows the replica: numbers or names, with commas; NULL: all that nvidia-smi shows. */
static const char *visible(struct cli_session *s, const struct job_found *f, struct str pod)
{
	static const char *const argv[] = { "printenv", "CUDA_VISIBLE_DEVICES", NULL };
	struct str text = str_trim(output_of(s, f, pod, argv));

	for (size_t i = 0; i < text.n; i++)
		if (!strchr("0123456789abcdefABCDEFGPUMIG-,", text.p[i]))
			return NULL;
	return text.n ? arena_str(&s->remote.arena, text).p : NULL;
}

static void ask_gpus(struct cli_session *s, const struct job_found *f, struct str pod, struct str *cells)
{
	const char *which = visible(s, f, pod);
	const char *const argv[] = { "nvidia-smi",
		                     "--query-gpu=utilization.gpu,memory.used",
		                     "--format=csv,noheader,nounits",
		                     which ? "-i" : NULL,
		                     which,
		                     NULL };
	struct str text = output_of(s, f, pod, argv), line, part;
	int64_t n = 0, busy = 0, memory = 0, value;

	while (str_next(&text, '\n', &line)) {
		if (!str_next(&line, ',', &part) || !str_int(str_trim(part), &value))
			continue;
		n++;
		busy += value;
		if (str_int(str_trim(line), &value))
			memory += value;
	}
	if (!n)
		return;
	cells[TOP_GPU] = arena_printf(&s->remote.arena, "%lld%%", (long long)(busy / n));
	cells[TOP_GPU_MEMORY] = arena_printf(&s->remote.arena, "%lldMi", (long long)memory);
}

static void print_rows(const struct str (*rows)[TOP_COLUMNS], size_t n, bool gpus)
{
	struct table t = { .columns = gpus ? TOP_COLUMNS : TOP_COLUMNS - 2 };
	struct str cells[TOP_COLUMNS];

	for (int print = 0; print < 2; print++)
		for (size_t i = 0; i < n; i++) {
			memcpy(cells, rows[i], sizeof(cells));
			if (!gpus)
				cells[TOP_GPU] = cells[TOP_POD];
			if (print)
				table_print(&t, cells, stdout);
			else
				table_fit(&t, cells);
		}
}

static enum exit_code print_all(struct cli_session *s, const struct job_found *f, const struct tree *t,
                                const struct remote_list *metrics, bool gpus)
{
	struct arena *a = &s->remote.arena;
	struct str(*rows)[TOP_COLUMNS] = xcalloc(t->n_pods + 1, sizeof(*rows));
	static const char *const titles[] = { "REPLICA", "CPU", "MEMORY", "GPU", "GPU-MEMORY", "POD" };
	int64_t cpu, memory;
	size_t n = 1;

	for (size_t i = 0; i < TOP_COLUMNS; i++)
		rows[0][i] = str_c(titles[i]);
	for (size_t i = 0; i < t->n_pods && !s->remote.interrupted; i++) {
		const struct pod *p = &t->pods[i];

		if (p->phase != POD_RUNNING || !p->role.n)
			continue;
		rows[n][TOP_REPLICA] = arena_printf(a, "%.*s-%d", STR_F(p->role), p->index);
		rows[n][TOP_POD] = p->meta.name;
		if (measured(metrics, p->meta.name, &cpu, &memory)) {
			rows[n][TOP_CPU] = arena_printf(a, "%lldm", (long long)cpu);
			rows[n][TOP_MEMORY] = arena_printf(a, "%lldMi", (long long)(memory / 1000 >> 20));
		}
		if (gpus)
			ask_gpus(s, f, p->meta.name, rows[n]);
		n++;
	}
	if (n > 1 && !s->remote.interrupted)
		print_rows((const struct str(*)[TOP_COLUMNS])rows, n, gpus);
	free(rows);
	if (s->remote.interrupted)
		return CLI_INTERRUPTED;
	return n > 1 ? CLI_OK : cli_fail(s->cli, CLI_FAILED, "no replica runs");
}

enum exit_code top_print(struct cli_session *s, const struct job_found *f, bool gpus)
{
	struct str uid = json_str(json_at(f->job.root, "metadata", "uid", NULL));
	struct remote_list metrics = { .resource = pod_metrics,
		                       .options = { .ns = f->ns,
		                                    .label_selector = arena_printf(&s->remote.arena, LABEL_UID "=%.*s",
		                                                                   STR_F(uid)) } };
	enum exit_code status;
	struct gathered d;

	if (!remote_lists(&s->remote, &metrics, 1))
		return s->cli->status;
	if (metrics.code == HTTP_NOT_FOUND)
		status = cli_fail(
			s->cli, CLI_FAILED,
			"the cluster measures nothing: metrics-server, which serves metrics.k8s.io, is missing");
	else if (metrics.code != HTTP_OK)
		status = remote_refused(&s->remote, "read what its pods use", metrics.code, metrics.message);
	else if (gather_job(s, f, &d))
		status = print_all(s, f, &d.tree, &metrics, gpus);
	else
		status = s->cli->status;
	if (metrics.code == HTTP_OK)
		gathered_release(&d);
	remote_list_release(&metrics);
	return status;
}
