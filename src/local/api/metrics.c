/* metrics.k8s.io: what pods use, for `kubectl top`. It is measured when it is asked for, for a second. */
#include "base/json.h"
#include "local/api/internal.h"
#include "local/pod/usage.h"

enum { WINDOW_MS = 1000, FOLDER_MAX = 4096, METRICS_MAX = 64 << 20 };

struct measuring {
	struct api *api;
	struct http_exchange *x;
	struct loop_timer *timer;
	struct usage_sample before;
	yyjson_doc *doc; /* the pods, or (ONE) the pod */
	bool one;
};

static msec now_of(const struct measuring *m)
{
	return loop_now(m->api->config.loop);
}

static void put_container(struct buf *b, const struct pod_container_state *c, struct pod_usage u, const char *comma)
{
	buf_printf(b, "%s{\"name\":", comma);
	buf_json_str(b, c->name);
	buf_printf(b, ",\"usage\":{\"cpu\":\"%lldm\",\"memory\":\"%lldKi\"}}", (long long)u.cpu_milli,
	           (long long)u.memory / 1024);
}

static void put_head(const struct measuring *m, struct buf *b, yyjson_val *pod)
{
	static const char *const copied[] = { "name", "namespace", "creationTimestamp" };
	yyjson_val *labels = json_at(pod, "metadata", "labels", NULL);
	char now[TIME_TEXT];

	buf_put(b, STR("{\"kind\":\"PodMetrics\",\"apiVersion\":\"" METRICS_GROUP "/" METRICS_VERSION
	               "\",\"metadata\":{"));
	for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
		buf_printf(b, "%s\"%s\":", i ? "," : "", copied[i]);
		buf_json_str(b, json_str(json_at(pod, "metadata", copied[i], NULL)));
	}
	if (labels) {
		buf_put(b, STR(",\"labels\":"));
		json_write_val(labels, b);
	}
	buf_printf(b, "},\"timestamp\":\"%s\",\"window\":\"%ds\",\"containers\":[",
	           time_format(clock_now(m->api->config.clock), now), WINDOW_MS / 1000);
}

/* False: the pod does not run. */
static bool put_pod(const struct measuring *m, const struct usage_sample *now, yyjson_val *pod, struct buf *b)
{
	const struct api_config *c = &m->api->config;
	struct buf folder = BUF_INIT(FOLDER_MAX);
	struct arena a = ARENA_INIT;
	struct pod_state s = { 0 };
	bool missing = true, there;
	const char *comma = "";

	there = str_eqc(json_str(json_at(pod, "status", "phase", NULL)), "Running") && c->pod_folder &&
	        c->pod_folder(c->cookie, json_str(json_at(pod, "metadata", "namespace", NULL)),
	                      json_str(json_at(pod, "metadata", "name", NULL)),
	                      json_str(json_at(pod, "metadata", "uid", NULL)), &folder) &&
	        pod_state_read(&s, &missing, folder.p, &a, NULL) && !missing && s.life != POD_ENDED;
	if (there) {
		put_head(m, b, pod);
		for (size_t i = 0; i < s.containers.n; i++) {
			if (!s.containers.v[i].pid)
				continue;
			put_container(b, &s.containers.v[i], usage_between(&m->before, now, &s, i), comma);
			comma = ",";
		}
		buf_put(b, STR("]}"));
	}
	arena_release(&a);
	buf_release(&folder);
	return there;
}

static void put_list(const struct measuring *m, const struct usage_sample *now, struct buf *b)
{
	yyjson_val *pod;
	const char *comma = "";
	size_t i, max;

	buf_put(b, STR("{\"kind\":\"PodMetricsList\",\"apiVersion\":\"" METRICS_GROUP "/" METRICS_VERSION
	               "\",\"metadata\":{},\"items\":["));
	yyjson_arr_foreach(json_get(yyjson_doc_get_root(m->doc), "items"), i, max, pod)
	{
		struct buf one = BUF_INIT(METRICS_MAX);

		if (put_pod(m, now, pod, &one)) {
			buf_put(b, str_c(comma));
			buf_put(b, buf_str(&one));
			comma = ",";
		}
		buf_release(&one);
	}
	buf_put(b, STR("]}"));
}

static void on_window(void *cookie)
{
	struct measuring *m = cookie;
	struct usage_sample now;
	struct buf b = BUF_INIT(METRICS_MAX);

	usage_take(&now, now_of(m));
	if (!m->one)
		put_list(m, &now, &b);
	else if (!put_pod(m, &now, yyjson_doc_get_root(m->doc), &b))
		api_status(&b, HTTP_NOT_FOUND, STR("the pod does not run any more"));
	http_stream_put(m->x, buf_str(&b));
	http_stream_end(m->x);
	buf_release(&b);
	usage_release(&now);
}

static void measuring_free(void *cookie)
{
	struct measuring *m = cookie;

	m->api->streams--;
	loop_timer_free(m->timer);
	usage_release(&m->before);
	yyjson_doc_free(m->doc);
	free(m);
}

/* NULL: there is nothing to measure, and it has been answered. */
static yyjson_doc *read_pods(struct api_answering *q)
{
	const struct store_request *r = &q->route->request;
	struct store_answer a = { 0 };
	yyjson_doc *doc = NULL;
	struct str phase;

	store_call(q->api->config.store, r, &a);
	if (a.code != HTTP_OK) {
		answer_json(q, a.code, &a.body);
		store_answer_release(&a);
		return NULL;
	}
	doc = yyjson_read(a.body.p, a.body.n, 0);
	store_answer_release(&a);
	phase = json_str(json_at(yyjson_doc_get_root(doc), "status", "phase", NULL));
	if (r->verb != STORE_GET || str_eqc(phase, "Running"))
		return doc;
	yyjson_doc_free(doc);
	answer_status(q, HTTP_NOT_FOUND, "podmetrics.metrics.k8s.io \"%.*s/%.*s\" not found: the pod does not run",
	              STR_F(r->ns), STR_F(r->name));
	return NULL;
}

void answer_metrics(struct api_answering *q)
{
	yyjson_doc *doc;
	struct measuring *m;

	if (!may_stream(q))
		return;
	doc = read_pods(q);
	if (!doc)
		return;
	m = xcalloc(1, sizeof(*m));
	m->api = q->api;
	m->x = q->x;
	m->doc = doc;
	m->one = q->route->request.verb == STORE_GET;
	m->timer = loop_timer_new(q->api->config.loop, on_window, m);
	usage_take(&m->before, now_of(m));
	q->api->streams++;
	http_stream(q->x, &(struct http_stream_config){ .content_type = "application/json",
	                                                .max = METRICS_MAX,
	                                                .gone = measuring_free,
	                                                .cookie = m });
	loop_timer_set(m->timer, WINDOW_MS);
}
