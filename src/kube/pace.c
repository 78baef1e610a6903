#include "kube/pace.h"

struct pace pace_new(double qps, size_t burst)
{
	double most = burst ? (double)burst : qps;

	most = MAX(most, 1.0);
	return (struct pace){ .rate = qps, .burst = most, .tokens = most };
}

msec pace_take(struct pace *p, msec now)
{
	if (p->rate <= 0)
		return 0;
	if (p->filled && now > p->filled)
		p->tokens = MIN(p->burst, p->tokens + (double)(now - p->filled) / 1000 * p->rate);
	p->filled = MAX(now, p->filled);
	if (p->tokens >= 1) {
		p->tokens -= 1;
		return 0;
	}
	return (msec)((1 - p->tokens) / p->rate * 1000) + 1;
}
