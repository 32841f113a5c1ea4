#ifndef K8S_SD_TESTS_C_SUPPORT_H
#define K8S_SD_TESTS_C_SUPPORT_H

/* What the C tests share: checks, a simulated API server in a process of its own, and waiting for
 * an event through either drive. The first failed check ends the program. */

#include <k8s_sd_c.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);      \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

/* A test of a list that ends with a NULL. */
struct test {
    const char* name;
    void (*run)(void);
};

/* Runs all tests, or those whose names contain the argument of the command line. */
int run_tests(int argc, char** argv, const struct test* tests);

/* ---- the simulated server -------------------------------------------------------------------- */

struct server {
    char url[64];
    char authority[64]; /* the file of its authority; "": no TLS */
    int pid;
    FILE* commands;
    FILE* answers;
};

struct server start_server(void);
/* The same with TLS. */
struct server start_tls_server(void);
void stop_server(struct server* server);
/* Sends a command in the form of printf; see server.cpp. */
void tell(struct server* server, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* Applies a pod with one container and one port. */
void apply_pod(struct server* server, const char* name, const char* address);

/* ---- the library ----------------------------------------------------------------------------- */

/* Ends the program with the text if there is an error. */
void expect_ok(k8s_sd_error* error);
/* Checks the code, and frees the error. */
void expect_error(k8s_sd_error** error, k8s_sd_code code);

/* A context; `flags` selects the drive. */
k8s_sd_context* open_context(uint64_t flags);
/* Waits for the next event that is no status. */
k8s_sd_event* next_event(k8s_sd_context* context);
/* The same for a status whose message contains a text, or is empty for "". */
void await_status(k8s_sd_context* context, int synced, const char* text);
/* Discovers the pods of the server, whose authority it trusts; `more` are further lines of YAML. */
k8s_sd_id discover_pods(k8s_sd_context* context, const struct server* server, const char* more);

/* Whether the view is this text. */
int is(k8s_sd_string view, const char* text);
int contains(k8s_sd_string view, const char* text);
/* Takes events until the address of the only target of a group is this one; NULL: until the group
 * is removed. */
void await_address(k8s_sd_context* context, const char* source, const char* address);

/* A file in the folder of temporary files, with this text. */
void write_file(char* path, size_t size, const char* text);

#ifdef __cplusplus
}
#endif

#endif
