/* What is wrong with a YAML file, where, in words that help. */
#ifndef BASE_YAML_FAULT_H
#define BASE_YAML_FAULT_H

#include "base/yaml.h"

#include <yaml.h>

/* Sets "FILE:line:column: reason" and returns false. */
bool yaml_fault(struct err *e, struct str file, struct yaml_pos at, enum err_code code, const char *fmt, ...)
	PRINTF_LIKE(5, 6);
/* The same for what libyaml found; TEXT is what it reads. */
bool yaml_fault_of_parser(struct err *e, struct str file, struct str text, const yaml_parser_t *parser);

#endif
