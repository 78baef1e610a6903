#include "local/runner/spec.h"

#include "local/runner/companion.h"
#include "local/runner/call.h"
#include "local/runner/events.h"
#include "local/runner/requests.h"
#include "local/runner/trees.h"
#include "object/labels.h"

struct context {
	struct runner *r;
	struct runner_pod *p;
	struct spec_docs *docs;
};

static yyjson_val *look_up(struct context *x, struct str plural, struct str name)
{
	struct runner *r = x->r;
	yyjson_doc *doc = runner_read(r, store_type(r->c.store, STR(""), STR("v1"), plural), str_c(x->p->ns), name);

	if (!doc)
		return NULL;
	*vec_push(&r->round, &x->docs->all) = doc;
	return yyjson_doc_get_root(doc);
}

static yyjson_val *config_map(void *cookie, struct str name)
{
	return look_up(cookie, STR("configmaps"), name);
}

static yyjson_val *secret(void *cookie, struct str name)
{
	return look_up(cookie, STR("secrets"), name);
}

void spec_docs_release(struct spec_docs *docs)
{
	for (size_t i = 0; i < docs->all.n; i++)
		yyjson_doc_free(docs->all.v[i]);
	docs->all.n = 0;
}

static const char *volume(void *cookie, struct str name)
{
	struct context *x = cookie;

	return tree_of_volume(x->r->c.volumes, x->r->c.n_volumes, pod_object(x->p), name);
}

static bool image(void *cookie, struct str name, struct pod_image *ret)
{
	struct context *x = cookie;
	const char *dir = tree_find(x->r->c.rootfs, x->r->c.n_rootfs, name);
	struct err e = ERR_INIT;

	if (!dir)
		return false;
	if (pod_image_read(ret, dir, &x->r->round, &e))
		return true;
	event_say(x->r, x->p, EVENT_WARNING, "Failed", name, "Image %.*s: %s", STR_F(name), err_msg(&e));
	err_release(&e);
	return false;
}

/* --- GPUs: each container sees those that it asked for, and no others. --- */

static struct pod_env *env_of(struct pod_container *c, const char *name)
{
	for (size_t i = 0; i < c->env.n; i++)
		if (str_eqc(c->env.v[i].name, name))
			return &c->env.v[i];
	return NULL;
}

static void env_set(struct arena *a, struct pod_container *c, const char *name, struct str value)
{
	struct pod_env *env = env_of(c, name);

	if (!env) {
		env = vec_push(a, &c->env);
		env->name = str_c(name);
	}
	env->value = value;
}

static void show_gpus(struct runner *r, struct pod_container *c, const struct gpu_set *given)
{
	const struct pod_env *own = env_of(c, "CUDA_VISIBLE_DEVICES");
	struct gpu_set seen = own && given->n ? gpus_chosen(given, own->value) : *given;
	char text[GPUS_TEXT];
	struct str numbers;

	if (own && given->n == 0)
		return;
	numbers = arena_str(&r->round, str_c(gpus_write(&seen, text)));
	env_set(&r->round, c, "CUDA_VISIBLE_DEVICES", numbers);
	env_set(&r->round, c, "NVIDIA_VISIBLE_DEVICES", seen.n ? numbers : STR("void"));
}

/* Whatever the container says of them itself. */
static void hide_gpus(struct runner *r, struct runner_pod *p, struct pod_spec *spec)
{
	for (size_t i = 0; i < spec->containers.n; i++) {
		env_set(&r->round, &spec->containers.v[i], "CUDA_VISIBLE_DEVICES", STR(""));
		env_set(&r->round, &spec->containers.v[i], "NVIDIA_VISIBLE_DEVICES", STR("void"));
	}
	if (p->gpus_missed)
		*vec_push(&r->round, &spec->notes) =
			arena_printf(&r->round, "requests %lld GPUs and runs WITHOUT any: --without-gpus",
		                     (long long)p->gpus_missed);
}

static void give_gpus(struct runner *r, struct runner_pod *p, struct pod_spec *spec)
{
	yyjson_val *all = json_get(pod_object(p), "spec");
	yyjson_val *lists[] = { json_get(all, "containers"), json_get(all, "initContainers") };
	size_t at = 0, first = yyjson_arr_size(lists[1]);

	if (r->c.without_gpus) {
		hide_gpus(r, p, spec);
		return;
	}
	if (r->c.machine.gpus <= 0)
		return;
	for (size_t i = 0; i < spec->containers.n; i++) {
		struct pod_container *c = &spec->containers.v[i];
		yyjson_val *object = yyjson_arr_get(lists[c->init], c->init ? i : i - first);
		int64_t n = requests_of_container(object).gpus;
		struct gpu_set given = gpus_part(&p->gpus, c->init && !c->sidecar ? 0 : at, n);

		if (!c->init || c->sidecar)
			at += given.n;
		show_gpus(r, c, &given);
	}
}

static bool asks(const struct runner_pod *p, const char *field)
{
	return yyjson_is_true(json_at(pod_object(p), "spec", field, NULL));
}

/* A job that says where its caller was: there its programs are, and his virtual environment. */
static void follow_caller(const struct runner_pod *p, struct pod_from_options *o)
{
	yyjson_val *job = p->unit ? yyjson_doc_get_root(p->unit->job) : NULL;
	yyjson_val *said = json_at(job, "metadata", "annotations", NULL);
	struct str folder = json_str(json_get(said, ANNOTATION_FOLDER)),
		   path = json_str(json_get(said, ANNOTATION_PATH));

	if (folder.n && folder.p[0] == '/' && !memchr(folder.p, 0, folder.n))
		o->cwd = folder;
	if (path.n && !memchr(path.p, 0, path.n))
		o->path = path;
}

bool spec_make(struct runner *r, struct runner_pod *p, struct pod_spec *ret, struct spec_docs *docs,
               struct pod_refusal *why, struct err *e)
{
	struct context x = { r, p, docs };
	struct pod_from_options o = {
		.config_map = config_map,
		.secret = secret,
		.volume = volume,
		.image = image,
		.cookie = &x,
		.env = r->c.env,
		.cwd = r->cwd,
		.node = r->node,
		.host_ip = str_c(r->host_ip),
		.pod_ip = str_c(p->ip),
		.cpu_milli = r->c.machine.cpu,
		.memory = r->c.machine.memory,
	};

	pod_from_as(&o);
	if (!companion_is(p))
		follow_caller(p, &o);
	/* A companion is a program of the caller here: companion_make_spec() takes its user away. */
	o.as_root &= !companion_is(p);
	if (!pod_from(ret, pod_object(p), &o, &r->round, why, e))
		return false;
	ret->pid_namespace = !asks(p, "hostPID");
	ret->ipc_namespace = !asks(p, "hostIPC");
	ret->mount_namespace = true;
	ret->cgroup = arena_printf(&r->round, "dljob/%s", p->uid);
	ret->backoff = r->c.backoff;
	give_gpus(r, p, ret);
	return !companion_is(p) || companion_make_spec(r, p, ret, why, e);
}

bool spec_take_ports(struct runner *r, struct runner_pod *p, struct err *e)
{
	static const char *const fields[] = { "containerPort", "hostPort" };
	VEC(uint16_t) ports = { 0 };
	yyjson_val *c, *port;
	size_t i, k, max, many;
	int64_t number;

	if (r->c.world->kind != NET_HOST || companion_is(p))
		return true;
	yyjson_arr_foreach(json_at(pod_object(p), "spec", "containers", NULL), i, max, c)
	{
		yyjson_arr_foreach(json_get(c, "ports"), k, many, port)
		{
			for (size_t f = 0; f < ARRAY_LEN(fields); f++)
				if (json_int(json_get(port, fields[f]), &number) && number > 0 && number <= UINT16_MAX)
					*vec_push(&r->round, &ports) = (uint16_t)number;
		}
	}
	return net_ports_take(r->c.net, str_c(p->uid), ports.v, ports.n, e);
}
