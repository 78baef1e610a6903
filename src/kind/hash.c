#include "kind/hash.h"

/* FNV-1a over the bytes, then splitmix64 for each group of characters. Names of running pods depend on
   it: never change it. str_hash() is free to change, so it is not used here. */
void hash_text(struct str s, char *out, size_t n)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	uint64_t state = 0xcbf29ce484222325u, z = 0;

	ASSERT(n <= HASH_MAX);
	for (size_t i = 0; i < s.n; i++)
		state = (state ^ (unsigned char)s.p[i]) * 0x100000001b3u;
	for (size_t i = 0; i < n; i++) {
		if (i % 8 == 0) {
			state += 0x9e3779b97f4a7c15u;
			z = state;
			z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
			z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
			z ^= z >> 31;
		}
		out[i] = digits[z % 36];
		z /= 36;
	}
}
