#include "local/api/tls.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

enum { DAY = 24 * 3600, YEARS_GOOD = 10, DAYS_LEFT = 30, SERIAL_BYTES = 16 };

/* Everything that is made on the way; freed in one place. */
struct making {
	gnutls_x509_privkey_t ca_key, key;
	gnutls_x509_crt_t ca, cert;
};

static void making_release(struct making *m)
{
	if (m->ca_key)
		gnutls_x509_privkey_deinit(m->ca_key);
	if (m->key)
		gnutls_x509_privkey_deinit(m->key);
	if (m->ca)
		gnutls_x509_crt_deinit(m->ca);
	if (m->cert)
		gnutls_x509_crt_deinit(m->cert);
}

static int new_key(gnutls_x509_privkey_t *ret)
{
	int rc = gnutls_x509_privkey_init(ret);

	return rc ? rc
	          : gnutls_x509_privkey_generate(*ret, GNUTLS_PK_ECDSA,
	                                         GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
}

/* What both have in common. */
static int new_cert(gnutls_x509_crt_t *ret, gnutls_x509_privkey_t key, const char *name, msec now)
{
	unsigned char serial[SERIAL_BYTES] = { 0 }, id[20];
	size_t id_n = sizeof(id);
	time_t from = (time_t)(now / 1000) - DAY;
	int rc = gnutls_x509_crt_init(ret);

	rc = rc ? rc : gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));
	serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive, and never shorter */
	rc = rc ? rc : gnutls_x509_crt_set_version(*ret, 3);
	rc = rc ? rc : gnutls_x509_crt_set_serial(*ret, serial, sizeof(serial));
	rc = rc ? rc
	        : gnutls_x509_crt_set_dn_by_oid(*ret, GNUTLS_OID_X520_COMMON_NAME, 0, name, (unsigned)strlen(name));
	rc = rc ? rc : gnutls_x509_crt_set_activation_time(*ret, from);
	rc = rc ? rc : gnutls_x509_crt_set_expiration_time(*ret, from + (time_t)YEARS_GOOD * 365 * DAY);
	rc = rc ? rc : gnutls_x509_crt_set_key(*ret, key);
	rc = rc ? rc : gnutls_x509_crt_get_key_id(*ret, 0, id, &id_n);
	return rc ? rc : gnutls_x509_crt_set_subject_key_id(*ret, id, id_n);
}

static int make_ca(struct making *m, msec now)
{
	int rc = new_key(&m->ca_key);

	rc = rc ? rc : new_cert(&m->ca, m->ca_key, "dljob local authority", now);
	rc = rc ? rc : gnutls_x509_crt_set_basic_constraints(m->ca, 1, 0);
	rc = rc ? rc : gnutls_x509_crt_set_key_usage(m->ca, GNUTLS_KEY_KEY_CERT_SIGN);
	return rc ? rc : gnutls_x509_crt_sign2(m->ca, m->ca, m->ca_key, GNUTLS_DIG_SHA256, 0);
}

static int make_server(struct making *m, msec now)
{
	static const unsigned char loopback[4] = { 127, 0, 0, 1 };
	unsigned char id[20];
	size_t id_n = sizeof(id);
	int rc = new_key(&m->key);

	rc = rc ? rc : new_cert(&m->cert, m->key, "dljob local", now);
	rc = rc ? rc : gnutls_x509_crt_set_basic_constraints(m->cert, 0, -1);
	rc = rc ? rc : gnutls_x509_crt_set_key_usage(m->cert, GNUTLS_KEY_DIGITAL_SIGNATURE);
	rc = rc ? rc : gnutls_x509_crt_set_key_purpose_oid(m->cert, GNUTLS_KP_TLS_WWW_SERVER, 0);
	rc = rc ? rc
	        : gnutls_x509_crt_set_subject_alt_name(m->cert, GNUTLS_SAN_IPADDRESS, loopback, sizeof(loopback),
	                                               GNUTLS_FSAN_SET);
	rc = rc ? rc
	        : gnutls_x509_crt_set_subject_alt_name(m->cert, GNUTLS_SAN_DNSNAME, "localhost", 9, GNUTLS_FSAN_APPEND);
	rc = rc ? rc : gnutls_x509_crt_get_key_id(m->ca, 0, id, &id_n);
	rc = rc ? rc : gnutls_x509_crt_set_authority_key_id(m->cert, id, id_n);
	return rc ? rc : gnutls_x509_crt_sign2(m->cert, m->ca, m->ca_key, GNUTLS_DIG_SHA256, 0);
}

/* Frees D. */
static struct str keep_datum(gnutls_datum_t *d, struct arena *a)
{
	struct str s = arena_str(a, (struct str){ (const char *)d->data, d->size });

	if (d->data)
		gnutls_memset(d->data, 0, d->size);
	gnutls_free(d->data);
	return s;
}

static int write_out(const struct making *m, struct tls_identity *ret, struct arena *a)
{
	gnutls_datum_t key = { 0 }, cert = { 0 }, ca = { 0 };
	int rc = gnutls_x509_privkey_export2_pkcs8(m->key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &key);

	rc = rc ? rc : gnutls_x509_crt_export2(m->cert, GNUTLS_X509_FMT_PEM, &cert);
	rc = rc ? rc : gnutls_x509_crt_export2(m->ca, GNUTLS_X509_FMT_PEM, &ca);
	*ret = (struct tls_identity){ keep_datum(&key, a), keep_datum(&cert, a), keep_datum(&ca, a) };
	return rc;
}

bool tls_make(struct tls_identity *ret, msec now, struct arena *a, struct err *e)
{
	struct making m = { 0 };
	int rc = make_ca(&m, now);

	rc = rc ? rc : make_server(&m, now);
	rc = rc ? rc : write_out(&m, ret, a);
	making_release(&m);
	return rc ? err_set(e, ERR_IO, "cannot create a certificate: %s", gnutls_strerror(rc)) : true;
}

struct str tls_text(const struct tls_identity *t, struct arena *a)
{
	return arena_printf(a, "%s%s%s", t->key.p, t->cert.p, t->ca.p);
}

/* Reading */

/* The next "-----BEGIN …" up to the line with its end. */
static struct str next_block(struct str *rest, struct arena *a)
{
	static const char end[] = "-----END ";
	const char *from = rest->n ? memmem(rest->p, rest->n, "-----BEGIN ", 11) : NULL, *to;
	struct str block = STR_NONE;

	if (from) {
		size_t left = rest->n - (size_t)(from - rest->p);

		to = memmem(from, left, end, sizeof(end) - 1);
		to = to ? memchr(to, '\n', left - (size_t)(to - from)) : NULL;
		if (to) {
			block = (struct str){ from, (size_t)(to - from) + 1 };
			*rest = str_sub(*rest, (size_t)(to + 1 - rest->p), rest->n);
		}
	}
	return arena_str(a, block);
}

static gnutls_datum_t datum(struct str s)
{
	return (gnutls_datum_t){ (unsigned char *)(uintptr_t)s.p, (unsigned)s.n };
}

static int import(struct making *m, const struct tls_identity *t)
{
	gnutls_datum_t key = datum(t->key), cert = datum(t->cert), ca = datum(t->ca);
	int rc = gnutls_x509_privkey_init(&m->key);

	rc = rc ? rc : gnutls_x509_privkey_import2(m->key, &key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);
	rc = rc ? rc : gnutls_x509_crt_init(&m->cert);
	rc = rc ? rc : gnutls_x509_crt_import(m->cert, &cert, GNUTLS_X509_FMT_PEM);
	rc = rc ? rc : gnutls_x509_crt_init(&m->ca);
	return rc ? rc : gnutls_x509_crt_import(m->ca, &ca, GNUTLS_X509_FMT_PEM);
}

static bool same_key(const struct making *m)
{
	unsigned char of_key[20], of_cert[20];
	size_t n_key = sizeof(of_key), n_cert = sizeof(of_cert);

	return gnutls_x509_privkey_get_key_id(m->key, 0, of_key, &n_key) == 0 &&
	       gnutls_x509_crt_get_key_id(m->cert, 0, of_cert, &n_cert) == 0 && n_key == n_cert &&
	       memcmp(of_key, of_cert, n_key) == 0;
}

static const char *problem(const struct making *m, msec now)
{
	unsigned why = 0;
	time_t t = (time_t)(now / 1000);

	if (!same_key(m))
		return "the key does not belong to the certificate";
	if (gnutls_x509_crt_verify(m->cert, &m->ca, 1, GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &why) || why)
		return "the certificate is signed by another authority";
	if (gnutls_x509_crt_get_activation_time(m->cert) > t)
		return "the certificate is not valid yet";
	if (gnutls_x509_crt_get_expiration_time(m->cert) < t + (time_t)DAYS_LEFT * DAY)
		return "the certificate has expired";
	if (!gnutls_x509_crt_check_hostname(m->cert, "127.0.0.1"))
		return "the certificate is for another address";
	return NULL;
}

bool tls_read(struct tls_identity *ret, struct str text, msec now, struct arena *a, struct err *e)
{
	struct making m = { 0 };
	const char *why;
	int rc;

	ret->key = next_block(&text, a);
	ret->cert = next_block(&text, a);
	ret->ca = next_block(&text, a);
	rc = import(&m, ret);
	why = rc ? gnutls_strerror(rc) : problem(&m, now);
	making_release(&m);
	return why ? err_set(e, ERR_INVALID, "%s", why) : true;
}
