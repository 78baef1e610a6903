#include "operator/requests.h"

static struct str pack(char **at, struct str s)
{
	struct str out = { *at, s.n };

	if (s.n)
		memcpy(*at, s.p, s.n);
	*at += s.n;
	return out;
}

uint64_t requests_add(struct requests *r, const struct request_sent *p)
{
	uint32_t place;
	struct request_sent *q;
	char *at;

	if (r->n_free) {
		place = r->free[--r->n_free];
	} else {
		if (r->n == r->cap) {
			r->cap = r->cap ? 2 * r->cap : 16;
			r->v = xrealloc(r->v, r->cap * sizeof(*r->v));
			r->free = xrealloc(r->free, r->cap * sizeof(*r->free));
		}
		place = (uint32_t)r->n++;
	}
	q = &r->v[place];
	*q = *p;
	at = xmalloc(p->ns.n + p->name.n + p->uid.n + p->role.n + 1);
	q->ns = pack(&at, p->ns);
	q->name = pack(&at, p->name);
	q->uid = pack(&at, p->uid);
	q->role = pack(&at, p->role);
	q->id = ++r->serial << 32 | place;
	r->in_flight++;
	return q->id;
}

uint64_t requests_serial(uint64_t id)
{
	return id >> 32;
}

bool requests_take(struct requests *r, uint64_t id, struct request_sent *ret)
{
	uint32_t place = (uint32_t)id;

	if (!id || place >= r->n || r->v[place].id != id)
		return false;
	*ret = r->v[place];
	r->v[place].id = 0;
	r->free[r->n_free++] = place;
	r->in_flight--;
	return true;
}

void requests_done(struct request_sent *p)
{
	str_free(p->ns);
}

void requests_release(struct requests *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].id)
			requests_done(&r->v[i]);
	free(r->v);
	free(r->free);
}
