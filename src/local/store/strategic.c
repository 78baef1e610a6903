#include "local/store/strategic.h"

#include "local/store/answer.h"

/* By which member the elements of a list are told apart; "": by themselves, as a set. Other lists are values. */
static const struct {
	const char *list, *key;
} merge_keys[] = {
	{ "addresses", "type" },
	{ "conditions", "type" },
	{ "containers", "name" },
	{ "env", "name" },
	{ "ephemeralContainers", "name" },
	{ "finalizers", "" },
	{ "hostAliases", "ip" },
	{ "imagePullSecrets", "name" },
	{ "initContainers", "name" },
	{ "ownerReferences", "uid" },
	{ "podIPs", "ip" },
	{ "resourceClaims", "name" },
	{ "secrets", "name" },
	{ "topologySpreadConstraints", "topologyKey" },
	{ "volumeDevices", "devicePath" },
	{ "volumeMounts", "mountPath" },
	{ "volumes", "name" },
};

struct merging {
	struct store_call *call;
	yyjson_mut_doc *doc;
	bool refused;
};

static yyjson_mut_val *merge_objects(struct merging *m, yyjson_val *was, yyjson_val *patch);

/* NULL: the list is a value. */
static const char *key_of_list(const struct merging *m, struct str list)
{
	if (str_eqc(list, "ports"))
		return str_eqc(m->call->type->pub.plural, "services") ? "port" : "containerPort";
	for (size_t i = 0; i < ARRAY_LEN(merge_keys); i++)
		if (str_eqc(list, merge_keys[i].list))
			return merge_keys[i].key;
	return NULL;
}

static struct str directive(yyjson_val *patch)
{
	return json_str(json_get(patch, "$patch"));
}

/* The member of PATCH that says something about its list or object NAME: "$setElementOrder/containers". */
static yyjson_val *about(yyjson_val *patch, const char *what, struct str name)
{
	char key[128];

	if (name.n > 64)
		return NULL;
	snprintf(key, sizeof(key), "$%s/%.*s", what, STR_F(name));
	return json_get(patch, key);
}

/* Lists */

struct element {
	yyjson_val *id; /* what tells it apart */
	yyjson_mut_val *made;
};

struct elements {
	const char *key; /* "": they are themselves their id */
	struct element *v;
	size_t n;
};

static yyjson_val *id_of(const struct elements *l, yyjson_val *one)
{
	return l->key[0] ? json_get(one, l->key) : one;
}

static struct element *find_element(struct elements *l, yyjson_val *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (id && l->v[i].id && json_eq(l->v[i].id, id))
			return &l->v[i];
	return NULL;
}

static yyjson_val *find_in(const struct elements *l, yyjson_val *list, yyjson_val *id)
{
	yyjson_val *one;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, one)
	{
		if (id_of(l, one) && json_eq(id_of(l, one), id))
			return one;
	}
	return NULL;
}

static void drop(struct elements *l, struct element *e)
{
	if (!e)
		return;
	memmove(e, e + 1, (size_t)(l->v + l->n - (e + 1)) * sizeof(*e));
	l->n--;
}

static void put_element(struct merging *m, struct elements *l, yyjson_val *was, yyjson_val *one)
{
	yyjson_val *id = id_of(l, one);
	struct element *e = find_element(l, id);

	if (!id) {
		m->refused = true;
		answer_refusal(m->call, HTTP_BAD_REQUEST, "BadRequest",
		               "an element of the patch does not contain the declared merge key: %s", l->key);
		return;
	}
	if (str_eqc(directive(one), "delete")) {
		drop(l, e);
		return;
	}
	if (!e) {
		e = &l->v[l->n++];
		e->id = id;
	}
	e->made = l->key[0] ? merge_objects(m, find_in(l, was, id), one) : yyjson_val_mut_copy(m->doc, one);
}

/* The places of what ORDER names are taken by the same elements in that order; the others stay where they are. */
static void sort(struct merging *m, struct elements *l, yyjson_val *order)
{
	struct element *sorted = arena_array(&m->call->s->arena, struct element, l->n);
	bool *named = arena_array(&m->call->s->arena, bool, l->n);
	size_t n = 0, next = 0, i, max;
	yyjson_val *one;

	yyjson_arr_foreach(order, i, max, one)
	{
		struct element *e = find_element(l, id_of(l, one));

		if (!e || named[e - l->v])
			continue;
		named[e - l->v] = true;
		sorted[n++] = *e;
	}
	for (i = 0; i < l->n; i++)
		if (named[i])
			l->v[i] = sorted[next++];
}

static bool replaces_whole(yyjson_val *list)
{
	yyjson_val *one;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, one)
	{
		if (str_eqc(directive(one), "replace"))
			return true;
	}
	return false;
}

static yyjson_mut_val *merge_lists(struct merging *m, const char *key, yyjson_val *was, yyjson_val *patch,
                                   yyjson_val *order, yyjson_val *without)
{
	struct elements l = { .key = key };
	yyjson_mut_val *ret = yyjson_mut_arr(m->doc);
	yyjson_val *one;
	size_t i, max;

	l.v = arena_array(&m->call->s->arena, struct element, yyjson_arr_size(was) + yyjson_arr_size(patch) + 1);
	if (replaces_whole(patch))
		was = NULL;
	yyjson_arr_foreach(was, i, max, one)
	{
		l.v[l.n++] = (struct element){ id_of(&l, one), yyjson_val_mut_copy(m->doc, one) };
	}
	yyjson_arr_foreach(patch, i, max, one)
	{
		if (!(yyjson_is_obj(one) && str_eqc(directive(one), "replace")) && !m->refused)
			put_element(m, &l, was, one);
	}
	yyjson_arr_foreach(without, i, max, one) drop(&l, find_element(&l, one));
	if (order)
		sort(m, &l, order);
	for (i = 0; i < l.n; i++)
		yyjson_mut_arr_append(ret, l.v[i].made);
	return ret;
}

/* Objects */

static bool listed(yyjson_val *list, struct str text)
{
	yyjson_val *one;
	size_t i, max;

	yyjson_arr_foreach(list, i, max, one)
	{
		if (str_eq(json_str(one), text))
			return true;
	}
	return false;
}

/* What the patch makes of a member; NULL: it goes. */
static yyjson_mut_val *merge_member(struct merging *m, struct str name, yyjson_val *was, yyjson_val *patch,
                                    yyjson_val *around)
{
	const char *key = key_of_list(m, name);

	if (yyjson_is_null(patch) || str_eqc(directive(patch), "delete"))
		return NULL;
	if (yyjson_is_obj(patch))
		return merge_objects(m, was, patch);
	if (yyjson_is_arr(patch) && key)
		return merge_lists(m, key, was, patch, about(around, "setElementOrder", name),
		                   about(around, "deleteFromPrimitiveList", name));
	return yyjson_val_mut_copy(m->doc, patch);
}

/* A member that the patch says nothing of, but perhaps something about. */
static yyjson_mut_val *keep_member(struct merging *m, struct str name, yyjson_val *was, yyjson_val *patch)
{
	yyjson_val *order = about(patch, "setElementOrder", name),
		   *without = about(patch, "deleteFromPrimitiveList", name);
	const char *key = key_of_list(m, name);

	if (without)
		key = "";
	if (key && yyjson_is_arr(was) && (order || without))
		return merge_lists(m, key, was, NULL, order, without);
	return yyjson_val_mut_copy(m->doc, was);
}

static void put_member(struct merging *m, yyjson_mut_val *obj, yyjson_val *key, yyjson_mut_val *v)
{
	if (v)
		yyjson_mut_obj_put(obj, yyjson_val_mut_copy(m->doc, key), v);
}

static yyjson_mut_val *merge_objects(struct merging *m, yyjson_val *was, yyjson_val *patch)
{
	yyjson_mut_val *ret = yyjson_mut_obj(m->doc);
	yyjson_val *retain = json_get(patch, "$retainKeys"), *key, *one;
	size_t i, max;

	if (!yyjson_is_obj(was) || str_eqc(directive(patch), "replace"))
		was = NULL;
	yyjson_obj_foreach(was, i, max, key, one)
	{
		struct str name = json_str(key);
		yyjson_val *change = json_get_str(patch, name);

		if (retain && !listed(retain, name))
			continue;
		put_member(m, ret, key,
		           change ? merge_member(m, name, one, change, patch) : keep_member(m, name, one, patch));
	}
	yyjson_obj_foreach(patch, i, max, key, one)
	{
		struct str name = json_str(key);

		if (str_has_prefix(name, STR("$")) || json_get_str(was, name))
			continue;
		put_member(m, ret, key, merge_member(m, name, NULL, one, patch));
	}
	return ret;
}

yyjson_mut_val *strategic_merge(struct store_call *c, yyjson_mut_doc *doc, yyjson_val *root, yyjson_val *patch)
{
	struct merging m = { .call = c, .doc = doc };
	yyjson_mut_val *ret;

	if (!yyjson_is_obj(patch)) {
		answer_refusal(c, HTTP_BAD_REQUEST, "BadRequest", "the patch must be an object, found %s",
		               json_type_name(patch));
		return NULL;
	}
	ret = merge_objects(&m, root, patch);
	return m.refused ? NULL : ret;
}
