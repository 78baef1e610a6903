#include "logs/archive_path.h"

enum { PART_MAX = 253 };
#define SUFFIX ".log"

bool archive_part(struct str s)
{
	if (!s.n || s.n > PART_MAX || s.p[0] == '.' || s.p[0] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!word && c != '.' && c != '-' && c != '_')
			return false;
	}
	return true;
}

bool archive_path(struct buf *out, const struct archive_name *n, size_t *run)
{
	const struct str parts[] = { n->ns, n->kind, n->job, n->uid, n->role, n->container };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (!archive_part(parts[i]))
			return false;
	/* With what stands beside them. */
	if (n->index < 0 || n->generation < 0 || n->role.n + n->container.n > PART_MAX - 32)
		return false;
	buf_printf(out, "%.*s/%.*s/%.*s/%.*s", STR_F(n->ns), STR_F(n->kind), STR_F(n->job), STR_F(n->uid));
	*run = out->n;
	buf_printf(out, "/%.*s-%d/%lld.%.*s" SUFFIX, STR_F(n->role), n->index, (long long)n->generation,
	           STR_F(n->container));
	return true;
}

/* A number as we write it. */
static bool read_number(struct str s, int64_t most, int64_t *ret)
{
	return s.n && s.p[0] >= '0' && s.p[0] <= '9' && (s.p[0] != '0' || s.n == 1) && str_int(s, ret) && *ret <= most;
}

bool archive_replica_read(struct str name, struct str *role, int32_t *index)
{
	const char *dash = name.n ? memrchr(name.p, '-', name.n) : NULL;
	size_t at = dash ? (size_t)(dash - name.p) : 0;
	int64_t number;

	if (!at || !archive_part(name) || !read_number(str_sub(name, at + 1, name.n), INT32_MAX, &number))
		return false;
	*role = str_sub(name, 0, at);
	*index = (int32_t)number;
	return true;
}

bool archive_file_read(struct str name, int64_t *generation, struct str *container)
{
	const char *dot = name.n ? memchr(name.p, '.', name.n) : NULL;
	size_t at = dot ? (size_t)(dot - name.p) : 0, rest;

	if (!at || !archive_part(name) || !str_has_suffix(name, STR(SUFFIX)))
		return false;
	rest = name.n - at - 1;
	if (rest <= strlen(SUFFIX) || !read_number(str_sub(name, 0, at), INT64_MAX, generation))
		return false;
	*container = str_sub(name, at + 1, rest - strlen(SUFFIX));
	return archive_part(*container);
}
