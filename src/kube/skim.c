#include "kube/skim.h"

#include "object/labels.h"

static const struct {
	enum skim_place in;
	const char *key;
	enum skim_field field;
} wanted[] = {
	{ SKIM_IN_EVENT, "type", SKIM_TYPE },
	{ SKIM_IN_METADATA, "name", SKIM_NAME },
	{ SKIM_IN_METADATA, "namespace", SKIM_NAMESPACE },
	{ SKIM_IN_METADATA, "uid", SKIM_UID },
	{ SKIM_IN_METADATA, "resourceVersion", SKIM_VERSION },
	{ SKIM_IN_LABELS, LABEL_UID, SKIM_JOB },
	{ SKIM_IN_OWNER, "uid", SKIM_OWNER },
};

/* The containers on the way there; a key of NULL: whatever it is. */
static const struct {
	enum skim_place in;
	const char *key;
	char opens;
	enum skim_place to;
} ways[] = {
	{ SKIM_IN_EVENT, "object", '{', SKIM_IN_OBJECT },
	{ SKIM_IN_OBJECT, "metadata", '{', SKIM_IN_METADATA },
	{ SKIM_IN_METADATA, "labels", '{', SKIM_IN_LABELS },
	{ SKIM_IN_METADATA, "ownerReferences", '[', SKIM_IN_OWNERS },
	{ SKIM_IN_OWNERS, NULL, '{', SKIM_IN_OWNER },
};

struct skim skim_make(bool event)
{
	return (struct skim){ .event = event };
}

static struct str skimmed(const struct skim_text *t)
{
	return t->odd ? STR_NONE : (struct str){ t->p, t->n };
}

struct str skim_get(const struct skim *s, enum skim_field f)
{
	return skimmed(&s->fields[f]);
}

static enum skim_place place(const struct skim *s)
{
	return s->depth ? s->place[s->depth - 1] : SKIM_OUTSIDE;
}

static bool is_key(const struct skim *s, const char *key)
{
	return !key || (s->value && str_eqc(skimmed(&s->key), key));
}

static enum skim_place way(const struct skim *s, char opens)
{
	if (!s->depth)
		return opens != '{' ? SKIM_OUTSIDE : s->event ? SKIM_IN_EVENT : SKIM_IN_OBJECT;
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (ways[i].in == place(s) && ways[i].opens == opens && is_key(s, ways[i].key))
			return ways[i].to;
	return SKIM_OUTSIDE;
}

static void open_container(struct skim *s, char opens)
{
	enum skim_place to = s->below ? SKIM_OUTSIDE : way(s, opens);

	if (to == SKIM_OUTSIDE || s->depth == ARRAY_LEN(s->place)) {
		s->below++;
		return;
	}
	s->place[s->depth++] = to;
	s->value = false;
}

static void close_container(struct skim *s)
{
	if (s->below)
		s->below--;
	else if (s->depth)
		s->depth--;
}

static void take_value(struct skim *s)
{
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		struct skim_text *to = &s->fields[wanted[i].field];

		if (wanted[i].in != place(s) || !is_key(s, wanted[i].key))
			continue;
		if (wanted[i].field == SKIM_OWNER && to->n && str_eq(skimmed(to), skim_get(s, SKIM_JOB)))
			continue;
		*to = s->word;
	}
}

static void end_string(struct skim *s)
{
	s->in_string = false;
	if (s->below || !s->depth)
		return;
	if (s->value)
		take_value(s);
	else
		s->key = s->word;
}

/* Of a string whose value may matter. */
static void keep_char(struct skim *s, char c)
{
	if (s->word.n == SKIM_TEXT)
		s->word.odd = true;
	else
		s->word.p[s->word.n++] = c;
}

static void read_string(struct skim *s, char c)
{
	if (s->escaped) {
		s->escaped = false;
	} else if (c == '\\') {
		s->escaped = s->word.odd = true;
	} else if (c == '"') {
		end_string(s);
	} else if (!s->below) {
		keep_char(s, c);
	}
}

static void read_other(struct skim *s, char c)
{
	switch (c) {
	case '"':
		s->in_string = true;
		s->word.n = 0;
		s->word.odd = false;
		break;
	case ':':
		s->value |= !s->below;
		break;
	case ',':
		s->value &= s->below > 0;
		break;
	case '{':
	case '[':
		open_container(s, c);
		break;
	case '}':
	case ']':
		close_container(s);
		break;
	default:
		break;
	}
}

void skim_read(struct skim *s, struct str piece)
{
	for (size_t i = 0; i < piece.n; i++) {
		if (s->in_string)
			read_string(s, piece.p[i]);
		else
			read_other(s, piece.p[i]);
	}
}
