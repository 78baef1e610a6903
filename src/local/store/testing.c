#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "local/store/testing.h"

#include "base/file.h"
#include "base/other_types.h"

static msec now(void *cookie)
{
	return ((struct fixture *)cookie)->now;
}

static void woken(void *cookie)
{
	((struct fixture *)cookie)->wakes++;
}

int fixture_setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err e = ERR_INIT;

	f->now = SECONDS(1800000000);
	f->clock = (struct clock){ now, f };
	f->store = store_open(&(struct store_config){ .clock = &f->clock, .seed = 7, .wake = woken, .cookie = f }, &e);
	if (!f->store)
		fail_msg("%s", err_msg(&e));
	assert_int_equal(create(f, "namespaces", "{\"metadata\":{\"name\":\"ml\"}}"), 201);
	*state = f;
	return 0;
}

static void drop_answer(struct fixture *f)
{
	store_answer_release(&f->answer);
	f->answer = (struct store_answer){ 0 };
	yyjson_doc_free(f->doc);
	f->doc = NULL;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	drop_answer(f);
	store_close(f->store);
	arena_release(&f->arena);
	free(f);
	return 0;
}

const struct store_type *type_named(struct fixture *f, const char *plural)
{
	const struct store_type *t, *found = NULL;

	for (size_t i = 0; (t = store_type_at(f->store, i)); i++)
		if (str_eqc(t->plural, plural))
			found = t;
	if (!found)
		fail_msg("no type %s", plural);
	return found;
}

int ask(struct fixture *f, struct store_request r)
{
	struct err e = ERR_INIT;

	drop_answer(f);
	store_call(f->store, &r, &f->answer);
	f->doc = json_parse(buf_str(&f->answer.body), &e);
	if (!f->doc)
		fail_msg("the answer is no JSON: %s", err_msg(&e));
	return f->answer.code;
}

static int ask_one(struct fixture *f, enum store_verb verb, const char *plural, const char *name, const char *body)
{
	const struct store_type *t = type_named(f, plural);

	return ask(f, (struct store_request){ .verb = verb,
	                                      .type = t,
	                                      .ns = t->namespaced ? STR("ml") : STR_NONE,
	                                      .name = str_c(name),
	                                      .body = str_c(body) });
}

int create(struct fixture *f, const char *plural, const char *body)
{
	return ask_one(f, STORE_CREATE, plural, NULL, body);
}

int get(struct fixture *f, const char *plural, const char *name)
{
	return ask_one(f, STORE_GET, plural, name, NULL);
}

int update(struct fixture *f, const char *plural, const char *name, const char *body)
{
	return ask_one(f, STORE_UPDATE, plural, name, body);
}

int update_status(struct fixture *f, const char *plural, const char *name, const char *body)
{
	return ask(f, (struct store_request){ .verb = STORE_UPDATE,
	                                      .type = type_named(f, plural),
	                                      .ns = STR("ml"),
	                                      .name = str_c(name),
	                                      .status = true,
	                                      .body = str_c(body) });
}

int patch_as(struct fixture *f, enum store_patch how, const char *plural, const char *name, const char *body)
{
	return ask(f, (struct store_request){ .verb = STORE_PATCH,
	                                      .type = type_named(f, plural),
	                                      .ns = STR("ml"),
	                                      .name = str_c(name),
	                                      .patch = how,
	                                      .body = str_c(body) });
}

int merge_patch(struct fixture *f, const char *plural, const char *name, const char *body)
{
	return patch_as(f, STORE_PATCH_MERGE, plural, name, body);
}

int delete_one(struct fixture *f, const char *plural, const char *name, const char *options)
{
	return ask_one(f, STORE_DELETE, plural, name, options);
}

int list(struct fixture *f, const char *plural, const char *labels, const char *fields)
{
	return ask(f, (struct store_request){ .verb = STORE_LIST,
	                                      .type = type_named(f, plural),
	                                      .label_selector = str_c(labels),
	                                      .field_selector = str_c(fields) });
}

msec settle(struct fixture *f)
{
	msec next;
	int rounds = 0;

	while ((next = store_step(f->store)) <= f->now)
		assert_true(rounds++ < 1000);
	return next;
}

const char *said(struct fixture *f, const char *path)
{
	yyjson_val *v = yyjson_doc_get_root(f->doc);
	struct str rest = str_c(path), key;
	struct buf b = BUF_INIT(1 << 20);
	const char *ret;
	int64_t i;

	while (v && str_next(&rest, '.', &key)) {
		if (yyjson_is_arr(v) && str_int(key, &i))
			v = yyjson_arr_get(v, (size_t)i);
		else
			v = json_get_str(v, key);
	}
	if (!v)
		return NULL;
	if (yyjson_is_str(v))
		return yyjson_get_str(v);
	json_write_val(v, &b);
	ret = arena_str(&f->arena, buf_str(&b)).p;
	buf_release(&b);
	return ret;
}

const char *fmt(struct fixture *f, const char *format, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return arena_str(&f->arena, str_c(text)).p;
}

const char *sample(struct fixture *f, const char *name)
{
	struct str path = arena_printf(&f->arena, CORPUS "/object/%s.json", name), text;
	struct err e = ERR_INIT;

	if (file_read(&text, path.p, &f->arena, &e) != FILE_READ)
		fail_msg("%s", err_msg(&e));
	return text.p;
}

void each_retyped(struct fixture *f, const char *name, void (*fn)(struct fixture *f, const char *text))
{
	yyjson_doc *doc = json_parse(str_c(sample(f, name)), NULL);
	struct buf b = BUF_INIT(1 << 20);
	bool more = true;

	assert_non_null(doc);
	for (size_t at = 0; more; at++) {
		for (unsigned type = 0; type < OTHER_TYPES; type++) {
			buf_clear(&b);
			more = put_retyped(yyjson_doc_get_root(doc), at, type, &b);
			if (more)
				fn(f, buf_str(&b).p);
		}
	}
	buf_release(&b);
	yyjson_doc_free(doc);
}

const char *widget_crd(struct fixture *f, const char *versions)
{
	return fmt(
		f,
		"{\"metadata\":{\"name\":\"widgets.example.org\"},\"spec\":{\"group\":\"example.org\",\"scope\":"
		"\"Namespaced\",\"names\":{\"plural\":\"widgets\",\"kind\":\"Widget\",\"shortNames\":[\"wd\",\"w\"]},"
		"\"versions\":%s}}",
		versions ? versions
			 : "[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}}}]");
}
