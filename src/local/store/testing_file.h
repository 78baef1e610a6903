/* A store in a file of a folder of its own, for tests. */
#ifndef LOCAL_STORE_TESTING_FILE_H
#define LOCAL_STORE_TESTING_FILE_H

#include "local/store/testing.h"

struct folder {
	char dir[64], path[96];
	struct fixture f; /* its store is opened by the tests */
};

/* For cmocka. */
int folder_setup(void **state);
int folder_teardown(void **state);
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

struct store *folder_open(struct folder *d, const char *path, struct err *e);
/* Opens the store of the file. */
struct fixture *folder_begin(struct folder *d);
void folder_end(struct folder *d);
/* Removes the files. */
void folder_clear(struct folder *d);
/* Runs SQL on the file of a store that is closed. */
void folder_change(struct folder *d, const char *sql);

#endif
