/* libcurl on the loop: its sockets and its one timer are ours, it never blocks. A pool has one fixed
   configuration; its easy handles are kept and used again. */
#include "http/client_pool.h"

enum { DAY_S = 24 * 3600 };

struct sock {
	struct http_pool *pool;
	struct loop_fd *fd;
	curl_socket_t s;
};

static void reap(struct http_pool *p)
{
	CURLMsg *m;
	int left;

	while (!http_client_is_dead(p->client) && (m = curl_multi_info_read(p->multi, &left))) {
		CURLcode rc = m->data.result;
		struct http_call *call;
		struct http_easy *easy;
		curl_off_t after = 0;
		const char *problem = NULL;

		ASSERT(curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &easy) == CURLE_OK);
		call = easy->call;
		if (rc != CURLE_OK)
			problem = call->problem ? call->problem : easy->error[0] ? easy->error : curl_easy_strerror(rc);
		curl_easy_getinfo(easy->curl, CURLINFO_RETRY_AFTER, &after);
		http_client_finish(call, problem, after > 0 ? SECONDS(MIN(after, DAY_S)) : 0);
	}
}

static void act(struct http_pool *p, curl_socket_t s, int events)
{
	struct http_client *c = p->client;
	int running;

	http_client_enter(c);
	/* What has come too late to be sent must not go out now that its connection is ready. */
	http_client_expire(c);
	if (http_client_is_dead(c)) {
		http_client_leave(c);
		return;
	}
	http_client_curl_begins(c);
	curl_multi_socket_action(p->multi, s, events, &running);
	http_client_curl_ended(c);
	reap(p);
	http_client_leave(c);
}

static void on_fd(void *cookie, int events)
{
	struct sock *s = cookie;

	act(s->pool, s->s, (events & LOOP_READ ? CURL_CSELECT_IN : 0) | (events & LOOP_WRITE ? CURL_CSELECT_OUT : 0));
}

static void on_timeout(void *cookie)
{
	act(cookie, CURL_SOCKET_TIMEOUT, 0);
}

static int on_curl_socket(CURL *curl, curl_socket_t s, int what, void *cookie, void *socket_cookie)
{
	struct http_pool *p = cookie;
	struct sock *sock = socket_cookie;

	(void)curl;
	if (what == CURL_POLL_REMOVE) {
		if (sock) {
			loop_fd_free(sock->fd);
			free(sock);
			curl_multi_assign(p->multi, s, NULL);
		}
		return 0;
	}
	if (!sock) {
		sock = xcalloc(1, sizeof(*sock));
		sock->pool = p;
		sock->s = s;
		sock->fd = loop_fd_new(p->loop, s, on_fd, sock);
		ASSERT(sock->fd);
		curl_multi_assign(p->multi, s, sock);
	}
	loop_fd_set(sock->fd, (what & CURL_POLL_IN ? LOOP_READ : 0) | (what & CURL_POLL_OUT ? LOOP_WRITE : 0));
	return 0;
}

static int on_curl_timer(CURLM *multi, long delay, void *cookie)
{
	struct http_pool *p = cookie;

	(void)multi;
	if (delay < 0)
		loop_timer_stop(p->timer);
	else
		loop_timer_set(p->timer, delay);
	return 0;
}

void http_pool_start(struct http_pool *p, struct http_call *call)
{
	struct http_easy *easy = p->unused;

	if (easy)
		p->unused = easy->next;
	else
		easy = http_easy_new(p);
	easy->next = NULL;
	call->pool = p;
	call->easy = easy;
	http_easy_set(easy, call);
	ASSERT(curl_multi_add_handle(p->multi, easy->curl) == CURLM_OK);
	p->active++;
}

void http_pool_stop(struct http_call *call)
{
	struct http_pool *p = call->pool;
	struct http_easy *easy = call->easy;

	ASSERT(curl_multi_remove_handle(p->multi, easy->curl) == CURLM_OK);
	/* libcurl counts how often it had to try again over the whole life of a handle, and gives up at five. */
	if (call->attempts > 1)
		http_easy_reset(easy);
	easy->call = NULL;
	call->easy = NULL;
	p->active--;
	easy->next = p->unused;
	p->unused = easy;
}

void http_pool_go_on(struct http_call *call)
{
	struct http_easy *easy = call->easy;

	/* An error of it ends the transfer, and comes as its result. */
	(void)curl_easy_pause(easy->curl, CURLPAUSE_CONT);
}

size_t http_pool_active(const struct http_pool *p)
{
	return p->active;
}

struct http_pool *http_pool_new(struct http_client *c, struct loop *l, const struct http_server *s, size_t connections,
                                struct err *e)
{
	static bool ready;
	struct http_pool *p = xcalloc(1, sizeof(*p));
	long most = (long)connections;

	if (!ready)
		ASSERT(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	ready = true;
	p->client = c;
	p->loop = l;
	if (!http_config_init(&p->config, s, e)) {
		http_pool_free(p);
		return NULL;
	}
	p->timer = loop_timer_new(l, on_timeout, p);
	p->multi = curl_multi_init();
	ASSERT(p->multi);
	curl_multi_setopt(p->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
	curl_multi_setopt(p->multi, CURLMOPT_SOCKETDATA, p);
	curl_multi_setopt(p->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
	curl_multi_setopt(p->multi, CURLMOPT_TIMERDATA, p);
	curl_multi_setopt(p->multi, CURLMOPT_MAXCONNECTS, most);
	curl_multi_setopt(p->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, most);
	curl_multi_setopt(p->multi, CURLMOPT_MAX_HOST_CONNECTIONS, most);
	return p;
}

void http_pool_free(struct http_pool *p)
{
	struct http_easy *easy;

	if (!p)
		return;
	ASSERT(p->active == 0);
	while ((easy = p->unused)) {
		p->unused = easy->next;
		http_easy_free(easy);
	}
	if (p->multi)
		curl_multi_cleanup(p->multi);
	loop_timer_free(p->timer);
	http_config_release(&p->config);
	free(p);
}
