#include "local/api/protobuf.h"

enum form { PROTO_TEXT, PROTO_BOOL, PROTO_NUMBER, PROTO_MESSAGE, PROTO_LIST, PROTO_MAP_TEXT, PROTO_MAP_BYTES };
enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };

struct proto_field {
	uint64_t number;
	const char *name;
	enum form form;
	const struct proto_field *message; /* ends with number 0 */
};

/* Times that are not set come as empty messages. */
static const struct proto_field empty[] = { { 0 } };

static const struct proto_field meta[] = {
	{ 1, "name", PROTO_TEXT, NULL },         { 2, "generateName", PROTO_TEXT, NULL },
	{ 3, "namespace", PROTO_TEXT, NULL },    { 4, "selfLink", PROTO_TEXT, NULL },
	{ 5, "uid", PROTO_TEXT, NULL },          { 6, "resourceVersion", PROTO_TEXT, NULL },
	{ 7, "generation", PROTO_NUMBER, NULL }, { 8, "creationTimestamp", PROTO_MESSAGE, empty },
	{ 11, "labels", PROTO_MAP_TEXT, NULL },  { 12, "annotations", PROTO_MAP_TEXT, NULL },
	{ 14, "finalizers", PROTO_LIST, NULL },  { 0 },
};
static const struct proto_field namespace_spec[] = { { 1, "finalizers", PROTO_LIST, NULL }, { 0 } };
static const struct proto_field namespace_status[] = { { 1, "phase", PROTO_TEXT, NULL }, { 0 } };
static const struct proto_field namespace[] = {
	{ 1, "metadata", PROTO_MESSAGE, meta },
	{ 2, "spec", PROTO_MESSAGE, namespace_spec },
	{ 3, "status", PROTO_MESSAGE, namespace_status },
	{ 0 },
};
static const struct proto_field configmap[] = {
	{ 1, "metadata", PROTO_MESSAGE, meta },
	{ 2, "data", PROTO_MAP_TEXT, NULL },
	{ 3, "binaryData", PROTO_MAP_BYTES, NULL },
	{ 4, "immutable", PROTO_BOOL, NULL },
	{ 0 },
};
static const struct proto_field secret[] = {
	{ 1, "metadata", PROTO_MESSAGE, meta }, { 2, "data", PROTO_MAP_BYTES, NULL },
	{ 3, "type", PROTO_TEXT, NULL },        { 4, "stringData", PROTO_MAP_TEXT, NULL },
	{ 5, "immutable", PROTO_BOOL, NULL },   { 0 },
};
static const struct {
	const char *kind;
	const struct proto_field *message;
} kinds[] = { { "Namespace", namespace }, { "ConfigMap", configmap }, { "Secret", secret } };

static const struct proto_field *message_of(struct str kind)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_eqc(kind, kinds[i].kind))
			return kinds[i].message;
	return NULL;
}

bool protobuf_knows(struct str kind)
{
	return message_of(kind) != NULL;
}

/* Reading */

static bool damaged(struct err *e)
{
	return err_set(e, ERR_INVALID, "the protobuf message is damaged");
}

static bool varint(struct str *s, uint64_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; shift < 64 && s->n; shift += 7) {
		unsigned char byte = (unsigned char)s->p[0];

		*s = str_sub(*s, 1, s->n);
		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

struct proto_item {
	uint64_t number, wire, value; /* VALUE: of a varint */
	struct str bytes;
};

/* False at the end, and, with *E, where it is damaged. */
static bool next(struct str *s, struct proto_item *ret, struct err *e)
{
	uint64_t tag, n;

	*ret = (struct proto_item){ 0 };
	if (str_empty(*s))
		return false;
	if (!varint(s, &tag))
		return damaged(e);
	ret->number = tag >> 3;
	ret->wire = tag & 7;
	if (ret->wire == WIRE_VARINT)
		return varint(s, &ret->value) || damaged(e);
	if (ret->wire != WIRE_BYTES || !varint(s, &n) || n > s->n)
		return damaged(e);
	ret->bytes = str_sub(*s, 0, (size_t)n);
	*s = str_sub(*s, (size_t)n, s->n);
	return true;
}

/* Writing */

static void put_bytes(struct buf *out, struct str bytes, bool text)
{
	if (text) {
		buf_json_str(out, bytes);
		return;
	}
	buf_putc(out, '"');
	buf_base64_encode(out, bytes);
	buf_putc(out, '"');
}

static bool put_pair(struct buf *out, struct str pair, bool text, struct err *e)
{
	struct str key = STR_NONE, value = STR_NONE;
	struct proto_item i;

	while (next(&pair, &i, e)) {
		if (i.wire != WIRE_BYTES || i.number < 1 || i.number > 2)
			return damaged(e);
		*(i.number == 1 ? &key : &value) = i.bytes;
	}
	if (e->code)
		return false;
	buf_json_str(out, key);
	buf_putc(out, ':');
	put_bytes(out, value, text);
	return true;
}

static const struct proto_field *field_of(const struct proto_field *message, uint64_t number)
{
	for (; message->number; message++)
		if (message->number == number)
			return message;
	return NULL;
}

static bool put_message(struct buf *out, const struct proto_field *message, struct str body, struct err *e);

/* All that BODY has of one field. */
static bool put_field(struct buf *out, const struct proto_field *f, struct str body, struct err *e)
{
	bool many = f->form == PROTO_LIST || f->form == PROTO_MAP_TEXT || f->form == PROTO_MAP_BYTES, ok = true;
	const char *comma = "";
	struct proto_item i;

	buf_printf(out, "\"%s\":%s", f->name, f->form == PROTO_LIST ? "[" : many ? "{" : "");
	while (ok && next(&body, &i, e)) {
		if (i.number != f->number)
			continue;
		if ((f->form == PROTO_BOOL || f->form == PROTO_NUMBER) != (i.wire == WIRE_VARINT) || (*comma && !many))
			return damaged(e);
		buf_put(out, str_c(comma));
		comma = ",";
		switch (f->form) {
		case PROTO_TEXT:
		case PROTO_LIST:
			put_bytes(out, i.bytes, true);
			break;
		case PROTO_NUMBER:
			buf_printf(out, "%lld", (long long)i.value);
			break;
		case PROTO_BOOL:
			buf_put(out, i.value ? STR("true") : STR("false"));
			break;
		case PROTO_MESSAGE:
			ok = put_message(out, f->message, i.bytes, e);
			break;
		case PROTO_MAP_TEXT:
		case PROTO_MAP_BYTES:
			ok = put_pair(out, i.bytes, f->form == PROTO_MAP_TEXT, e);
			break;
		}
	}
	buf_put(out, str_c(f->form == PROTO_LIST ? "]" : many ? "}" : ""));
	return ok && !e->code;
}

static bool has(struct str body, const struct proto_field *f, bool *nothing, struct err *e)
{
	struct proto_item i;

	*nothing = true;
	while (next(&body, &i, e)) {
		if (i.number != f->number)
			continue;
		*nothing = f->form == PROTO_NUMBER
		                   ? !i.value
		                   : (f->form == PROTO_TEXT || f->message == empty) && str_empty(i.bytes);
		return true;
	}
	return false;
}

static bool put_message(struct buf *out, const struct proto_field *message, struct str body, struct err *e)
{
	const char *comma = "";
	struct str rest = body;
	struct proto_item i;
	bool nothing;

	while (next(&rest, &i, e))
		if (!field_of(message, i.number))
			return err_set(e, ERR_INVALID, "protobuf field %llu is not known here",
			               (unsigned long long)i.number);
	buf_putc(out, '{');
	for (const struct proto_field *f = message; f->number && !e->code; f++) {
		if (!has(body, f, &nothing, e) || nothing)
			continue;
		buf_put(out, str_c(comma));
		comma = ",";
		if (!put_field(out, f, body, e))
			return false;
	}
	buf_putc(out, '}');
	return !e->code;
}

/* runtime.Unknown: 1 {1 apiVersion, 2 kind}, 2 the message. */
static bool open_envelope(struct str body, struct str kind, struct str *ret, struct err *e)
{
	static const char magic[4] = { 'k', '8', 's', 0 };
	struct str said = STR_NONE, version = STR_NONE;
	struct proto_item i, k;

	*ret = STR_NONE;
	if (!str_has_prefix(body, (struct str){ magic, sizeof(magic) }))
		return damaged(e);
	body = str_sub(body, sizeof(magic), body.n);
	while (next(&body, &i, e)) {
		struct str type = i.bytes;

		if (i.number == 2)
			*ret = i.bytes;
		while (i.number == 1 && next(&type, &k, e))
			*(k.number == 1 ? &version : &said) = k.bytes;
	}
	if (e->code)
		return false;
	return (str_eqc(version, "v1") && str_eq(said, kind)) ||
	       err_set(e, ERR_INVALID, "the object is no v1 %.*s", STR_F(kind));
}

bool protobuf_to_json(struct str kind, struct str body, struct buf *out, struct err *e)
{
	const struct proto_field *message = message_of(kind);
	struct buf b = BUF_INIT(out->max);
	struct str inner;
	bool ok;

	ASSERT(message);
	ok = open_envelope(body, kind, &inner, e) && put_message(&b, message, inner, e);
	if (ok && b.overflow)
		ok = err_set(e, ERR_LIMIT, "the object is too large");
	if (ok) {
		buf_printf(out, "{\"apiVersion\":\"v1\",\"kind\":\"%.*s\",", STR_F(kind));
		buf_put(out, str_sub(buf_str(&b), 1, b.n));
		/* An object without any field. */
		if (b.n == 2)
			out->p[out->n - 2] = ' ';
	}
	buf_release(&b);
	return ok;
}
