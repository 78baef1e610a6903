/* $(VAR) in commands and variables, as Kubernetes expands it. */
#include "local/pod/pod.h"

#include "base/buf.h"

enum { EXPANDED_MAX = 8 << 20 };

struct str pod_expand(struct arena *a, struct str text, pod_lookup_fn lookup, void *cookie)
{
	struct buf out = BUF_INIT(EXPANDED_MAX);
	struct str name, value;

	for (size_t i = 0; i < text.n; i++) {
		const char *end = NULL;

		if (text.p[i] != '$' || i + 1 == text.n) {
			buf_putc(&out, text.p[i]);
			continue;
		}
		i++;
		if (text.p[i] == '(')
			end = memchr(text.p + i, ')', text.n - i);
		if (!end) { /* "$$" is one; "$x" and "$(" without an end stay */
			if (text.p[i] != '$')
				buf_putc(&out, '$');
			buf_putc(&out, text.p[i]);
			continue;
		}
		name = (struct str){ text.p + i + 1, (size_t)(end - (text.p + i + 1)) };
		i += name.n + 1;
		if (lookup(cookie, name, &value))
			buf_put(&out, value);
		else
			buf_printf(&out, "$(%.*s)", STR_F(name));
	}
	value = arena_str(a, buf_str(&out));
	buf_release(&out);
	return value;
}
