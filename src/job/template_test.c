#include "job/testing.h"

/* "init: setup; counts: main (9000 a); side" and the service's ports behind "|". */
static const char *containers_text(struct bench *b, const struct role *role)
{
	struct str all = STR("");

	for (size_t i = 0; i < role->n_containers; i++) {
		const struct template_container *c = &role->containers[i];

		all = arena_printf(&b->a, "%.*s%s%s%.*s", STR_F(all), i ? " " : "",
		                   c->init     ? "init:"
		                   : c->counts ? "*"
		                               : "",
		                   STR_F(c->name));
		for (size_t k = 0; k < c->n_ports; k++)
			all = arena_printf(&b->a, "%.*s,%.*s:%d", STR_F(all), STR_F(c->ports[k].name),
			                   c->ports[k].number);
	}
	all = arena_printf(&b->a, "%.*s |", STR_F(all));
	for (size_t i = 0; i < role->n_ports; i++)
		all = arena_printf(&b->a, "%.*s %.*s:%d", STR_F(all), STR_F(role->ports[i].name),
		                   role->ports[i].number);
	return all.p;
}

#define C(name) "{'name':'" name "','image':'i'}"
#define P(name, ports) "{'name':'" name "','image':'i','ports':[" ports "]}"
#define SPEC(containers) "{'spec':{'containers':[" containers "]}}"
#define T "spec.r.template.spec"

static const struct template_case {
	const char *match, *ports, *template, *want, *problems;
} cases[] = {
	/* Which container counts. */
	{ NULL, NULL, SPEC(C("a") "," C("b")), "*a b |", NULL },
	{ "{'first':true}", NULL, SPEC(C("a") "," C("b")), "*a b |", NULL },
	{ "{'name':'b'}", NULL, SPEC(C("a") "," C("b")), "a *b |", NULL },
	{ "{'prefix':'x-'}", NULL, SPEC(C("x-a") "," C("b") "," C("x-c")), "*x-a b *x-c |", NULL },
	{ "{'name':'other'}", NULL, SPEC(C("a")), "*a |", NULL },
	{ "{'name':'other'}", NULL, "{'spec':{'initContainers':[" C("other") "],'containers':[" C("a") "]}}",
	  "init:other *a |", NULL },
	{ "{'first':true}", NULL, "{'spec':{'initContainers':[" C("z") "],'containers':[" C("a") "," C("b") "]}}",
	  "init:z *a b |", NULL },
	{ "{'name':'mx'}", NULL, SPEC(C("a") "," C("b")), "a b |",
	  T ".containers: none is named \"mx\", so no container's exit code would count; there are a or b" },
	{ "{'prefix':'x-'}", NULL, SPEC(C("a") "," C("b") "," C("c") "," C("d") "," C("e")), "a b c d e |",
	  T ".containers: none is named \"x-*\", so no container's exit code would count; there are a, b, c or d" },
	{ "{'nam':'x'}", NULL, SPEC(C("a")), "*a |", "spec.r.containers.nam: unknown field; did you mean \"name\"?" },
	{ "'first'", NULL, SPEC(C("a")), "*a |", "spec.r.containers: must be an object, found a string" },

	/* Ports that the kind lists. */
	{ NULL, "[{'name':'tf-port','port':2222}]", SPEC(C("a")), "*a | tf-port:2222", NULL },
	{ NULL, "[{'name':'p','port':1},{'name':'q','port':65535},{'name':'p','port':1}]", SPEC(C("a")),
	  "*a | p:1 q:65535", NULL },
	{ NULL, "[]", SPEC(P("a", "{'containerPort':1}")), "*a,:1 |", NULL },
	{ NULL, "{}", SPEC(P("a", "{'containerPort':1}")), "*a,:1 |", NULL },
	{ NULL, "[{'name':'p','port':0},{'name':'q','port':65536},{'name':'r','port':'x'}]", SPEC(C("a")), "*a |",
	  "spec.r.tfPort.port: must be at least 1, found 0\n"
	  "spec.r.tfPort.port: must be at most 65535, found 65536\n"
	  "spec.r.tfPort.port: must be a whole number, found a string" },
	{ NULL, "[{'name':'p','port':1},{'name':'p','port':2},{'name':'q','port':1}]", SPEC(C("a")), "*a | p:1",
	  "spec.r.tfPort: ports \"p\" (1) and \"p\" (2) differ in only one of name and number\n"
	  "spec.r.tfPort: ports \"p\" (1) and \"q\" (1) differ in only one of name and number" },
	{ NULL, "[{'port':1},{'name':'a_b','port':1},{'name':'p'}]", SPEC(C("a")), "*a |",
	  "spec.r.tfPort: a port needs a name (a DNS label) and a number\n"
	  "spec.r.tfPort: a port needs a name (a DNS label) and a number\n"
	  "spec.r.tfPort: a port needs a name (a DNS label) and a number" },
	{ NULL, "'http'", SPEC(C("a")), "*a |", "spec.r.tfPort: must be an object, found a string" },

	/* Ports by prefix, of the containers that count. */
	{ "{'prefix':'x-'}", "{'prefix':'x-'}",
	  SPEC(P("x-a",
	         "{'name':'x-b','containerPort':5},{'name':'http','containerPort':80},{'containerPort':"
	         "81}") "," P("y", "{'name':'x-q','containerPort':6}") "," P("x-c",
	                                                                     "{'name':'x-1','containerPort':4}")),
	  "*x-a,x-b:5 y *x-c,x-1:4 | x-5:5 x-4:4", NULL },
	{ "{'prefix':'x-'}", "{'prefix':'x-'}", SPEC(P("sole", "{'name':'x-b','containerPort':5}")),
	  "*sole,x-b:5 | x-5:5", NULL },
	{ "{'prefix':'x-'}", "{'prefix':'x-'}",
	  SPEC(P("x-a", "{'name':'x-tcp','containerPort':5},{'name':'x-udp','containerPort':5}")),
	  "*x-a,x-tcp:5,x-udp:5 | x-5:5", NULL },
	{ "{'prefix':'x-'}", "{'prefix':'x-'}",
	  SPEC(P("x-a", "{'name':'x-p','containerPort':5}") "," P("x-b", "{'name':'x-q','containerPort':5}")),
	  "*x-a,x-p:5 *x-b,x-q:5 | x-5:5",
	  T ".containers: \"x-a\" and \"x-b\" both have port 5; a service can have it once" },

	/* Containers' own mistakes. */
	{ NULL, NULL,
	  SPEC(P("a", "{'containerPort':0},{'containerPort':70000},{},{'containerPort':'80'},7,null,"
	              "{'name':1,'containerPort':80},{'name':null,'containerPort':80}")),
	  "*a,:80 |",
	  T ".containers[0].ports[0]: containerPort must be 1 to 65535\n" T
	    ".containers[0].ports[1]: containerPort must be 1 to 65535\n" T
	    ".containers[0].ports[2]: containerPort must be 1 to 65535\n" T
	    ".containers[0].ports[3]: containerPort must be 1 to 65535\n" T
	    ".containers[0].ports[4]: must be an object, found a number\n" T
	    ".containers[0].ports[5]: must be an object, found null\n" T
	    ".containers[0].ports[6]: name must be a string, found a number" },
	{ NULL, NULL, SPEC("{'name':'a','image':'i','ports':{},'env':7}"), "*a |",
	  T ".containers[0].env: must be a list, found a number\n" T
	    ".containers[0].ports: must be a list, found an object" },
	{ NULL, NULL, SPEC("{'name':'a','image':'i','ports':null,'env':null}"), "*a |", NULL },
	{ NULL, NULL,
	  SPEC("{'name':'a','image':'i','env':[{'name':'X'},{'value':'x'},'Y',null,{'name':''},{'name':1}]}"), "*a |",
	  T ".containers[0].env: entry 1 must be an object with a name\n" T
	    ".containers[0].env: entry 2 must be an object with a name\n" T
	    ".containers[0].env: entry 3 must be an object with a name\n" T
	    ".containers[0].env: entry 4 must be an object with a name\n" T
	    ".containers[0].env: entry 5 must be an object with a name" },
	{ NULL, NULL, SPEC("{'image':'i'},{'name':'','image':'i'},{'name':'A','image':' '},{'name':'b'}"), "*  A b |",
	  T ".containers[0].name: a container needs a name\n" T ".containers[1].name: a container needs a name\n" T
	    ".containers[2].name: must be a DNS label (lower case letters, digits, '-', at most 63), found \"A\"\n" T
	    ".containers[2].image: a container needs an image\n" T ".containers[3].image: a container needs an image" },
	{ NULL, NULL, SPEC(C("0123456789012345678901234567890123456789012345678901234567890123")),
	  "*0123456789012345678901234567890123456789012345678901234567890123 |",
	  T ".containers[0].name: must be a DNS label (lower case letters, digits, '-', at most 63), found "
	    "\"0123456789012345678901234567890123456789…\"" },
	{ NULL, NULL, "{'spec':{'initContainers':[" C("a") "],'containers':[" C("b") "," C("a") "," C("b") "]}}",
	  "init:a *b a b |",
	  T ".containers[1].name: there is another container named \"a\"\n" T
	    ".containers[2].name: there is another container named \"b\"" },
	{ NULL, NULL, SPEC("7,null," C("a")), "*a |",
	  T ".containers[0]: must be an object, found a number\n" T ".containers[1]: must be an object, found null" },
	{ NULL, NULL, "{'spec':{'containers':[]}}", " |", T ".containers: must have at least one container" },
	{ NULL, NULL, "{'spec':{'containers':{}}}", " |", T ".containers: must be a list, found an object" },
	{ NULL, NULL, "{'spec':{'containers':null,'initContainers':'x'}}", " |",
	  T ".initContainers: must be a list, found a string\n" T ".containers: must have at least one container" },
	{ NULL, NULL, "{'spec':{'initContainers':[" C("a") "]}}", "init:a |",
	  T ".containers: must have at least one container" },
	{ NULL, NULL, "{'spec':{'restartPolicy':'never','containers':[" C("a") "]}}", "*a |",
	  T ".restartPolicy: must be Always, OnFailure or Never, found \"never\"" },
	{ NULL, NULL, "{'spec':{'restartPolicy':['Never'],'containers':[" C("a") "]}}", "*a |",
	  T ".restartPolicy: must be Always, OnFailure or Never, found a list" },
	{ NULL, NULL, "{'spec':{'restartPolicy':'','containers':[" C("a") "]}}", "*a |", NULL },
	{ NULL, NULL, "{'spec':{'restartPolicy':null,'containers':[" C("a") "]}}", "*a |", NULL },
	{ NULL, NULL, "{'spec':{'restartPolicy':'OnFailure','containers':[" C("a") "]}}", "*a |", NULL },
	{ NULL, NULL, "{'spec':7}", " |", T ": must be an object with containers, found a number" },
	{ NULL, NULL, "{}", " |", T ": must be an object with containers, found nothing" },
	{ NULL, NULL, "[]", " |", "spec.r.template: must be an object, found a list" },
	{ NULL, NULL, "null", " |", "spec.r.template: is missing; it must be a pod template with spec.containers" },
};

static void test_templates(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct template_case *c = &cases[i];
		struct bench b = BENCH_INIT;
		struct str doc =
			arena_printf(&b.a,
		                     "{'roles':[{'name':'r','path':'spec.r','count':1,'containers':%s,'ports':%s,"
		                     "'fields':{'ports':'tfPort'},'template':%s}]}",
		                     c->match ? c->match : "null", c->ports ? c->ports : "null", c->template);
		struct job *job = read_job(&b, doc.p, NULL);

		assert_string_equal(problems_text(&b, &job->problems), c->problems ? c->problems : "");
		assert_string_equal(containers_text(&b, &job->roles[0]), c->want);
		bench_release(&b);
	}
}

static struct str many(struct bench *b, const char *fmt, int n)
{
	struct buf all = BUF_INIT(1 << 20);
	struct str ret;

	for (int i = 0; i < n; i++) {
		buf_put(&all, i ? STR(",") : STR(""));
		for (const char *p = fmt; *p; p++)
			if (*p == '#')
				buf_printf(&all, "%d", i + 1);
			else
				buf_putc(&all, *p);
	}
	ret = arena_str(&b->a, buf_str(&all));
	buf_release(&all);
	return ret;
}

/* Lists that are too long are refused as a whole, before anything is compared with everything. */
static void test_too_many(void **state)
{
	struct bench b = BENCH_INIT;
	struct job *job;
	struct str list;

	(void)state;
	list = many(&b, "{'name':'c#','image':'i'}", 101);
	job = read_job(&b,
	               arena_printf(&b.a,
	                            "{'roles':[{'name':'r','count':1,'template':{'spec':{'containers':[%.*s]}}}]}",
	                            STR_F(list))
	                       .p,
	               NULL);
	assert_string_equal(problems_text(&b, &job->problems),
	                    "spec.roles[0].template.spec.containers: has more than 100 containers");

	list = many(&b, "{'name':'p#','containerPort':#}", 1001);
	job = read_job(&b,
	               arena_printf(&b.a,
	                            "{'roles':[{'name':'r','count':1,'template':{'spec':{'containers':[{'name':'c',"
	                            "'image':'i','ports':[%.*s]}]}}}]}",
	                            STR_F(list))
	                       .p,
	               NULL);
	assert_string_equal(problems_text(&b, &job->problems),
	                    "spec.roles[0].template.spec.containers[0].ports: has more than 1000 entries");

	list = many(&b, "{'name':'p#','port':#}", 1001);
	job = read_job(&b, arena_printf(&b.a, "{'roles':[" ROLE("r", 1) ",'ports':[%.*s]}]}", STR_F(list)).p, NULL);
	assert_string_equal(problems_text(&b, &job->problems), "spec.r.r.ports: has more than 1000 entries");
	bench_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_templates),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
