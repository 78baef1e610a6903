#include "client/uid.h"

const struct str uid_any = STR_INIT("00000000-0000-4000-8000-000000000000");

/* Two independent 64-bit hashes of "ns/name". The seeds and the mixing are part of what users see in
   names: never change them. */
static uint64_t hash(uint64_t h, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3;
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccd;
	h ^= h >> 33;
	return h;
}

struct str uid_derive(struct arena *a, struct str ns, struct str name)
{
	uint64_t x = hash(hash(hash(0xcbf29ce484222325, ns), STR("/")), name);
	uint64_t y = hash(hash(hash(0x9e3779b97f4a7c15, ns), STR("/")), name);

	return arena_printf(a, "%08x-%04x-8%03x-%04x-%012llx", (unsigned)(x >> 32), (unsigned)(x >> 16 & 0xffff),
	                    (unsigned)(x & 0xfff), (unsigned)(0x8000 | (y >> 48 & 0x3fff)),
	                    (unsigned long long)(y & 0xffffffffffff));
}
