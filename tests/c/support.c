#define _POSIX_C_SOURCE 200809L

#include "support.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int run_tests(int argc, char** argv, const struct test* tests) {
    signal(SIGPIPE, SIG_IGN);
    for (; tests->name; ++tests) {
        if (argc > 1 && !strstr(tests->name, argv[1])) continue;
        printf("%s\n", tests->name);
        fflush(stdout);
        tests->run();
    }
    return 0;
}

/* ---- the simulated server */

static struct server start(const char* authority) {
    struct server server;
    int to[2], from[2];
    CHECK(pipe(to) == 0 && pipe(from) == 0);
    memset(&server, 0, sizeof server);
    if (authority) snprintf(server.authority, sizeof server.authority, "%s", authority);
    server.pid = fork();
    CHECK(server.pid >= 0);
    if (server.pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[0]), close(to[1]), close(from[0]), close(from[1]);
        execl(getenv("K8S_SD_TEST_SERVER"), "server", authority, (char*)NULL);
        _exit(127);
    }
    close(to[0]), close(from[1]);
    server.commands = fdopen(to[1], "w");
    server.answers = fdopen(from[0], "r");
    CHECK(server.commands && server.answers);
    CHECK(fgets(server.url, sizeof server.url, server.answers));
    server.url[strcspn(server.url, "\n")] = 0;
    return server;
}

struct server start_server(void) { return start(NULL); }

struct server start_tls_server(void) {
    char path[64] = "";
    write_file(path, sizeof path, "");
    return start(path);
}

void stop_server(struct server* server) {
    if (*server->authority) unlink(server->authority);
    fclose(server->commands);
    fclose(server->answers);
    CHECK(waitpid(server->pid, NULL, 0) == server->pid);
}

void tell(struct server* server, const char* format, ...) {
    char answer[512];
    va_list arguments;
    va_start(arguments, format);
    vfprintf(server->commands, format, arguments);
    va_end(arguments);
    fputc('\n', server->commands);
    CHECK(fflush(server->commands) == 0);
    CHECK(fgets(answer, sizeof answer, server->answers));
    if (strncmp(answer, "ok", 2) != 0) fprintf(stderr, "server: %s", answer);
    CHECK(strncmp(answer, "ok", 2) == 0);
}

void apply_pod(struct server* server, const char* name, const char* address) {
    tell(server,
         "apply {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"namespace\": \"shop\", "
         "\"name\": \"%s\", \"labels\": {\"app\": \"web\"}, \"annotations\": {\"note\": \"a\"}}, "
         "\"spec\": {\"nodeName\": \"node-1\", \"containers\": [{\"name\": \"web\", \"ports\": "
         "[{\"containerPort\": 80}]}]}, \"status\": {\"phase\": \"Running\", \"podIP\": \"%s\"}}",
         name, address);
}

/* ---- the library */

void expect_ok(k8s_sd_error* error) {
    if (!error) return;
    fprintf(stderr, "%s: %s\n", k8s_sd_code_name(k8s_sd_error_code(error)),
            k8s_sd_error_text(error));
    exit(1);
}

void expect_error(k8s_sd_error** error, k8s_sd_code code) {
    CHECK(*error);
    if (k8s_sd_error_code(*error) != code) expect_ok(*error);
    CHECK(*k8s_sd_error_text(*error));
    k8s_sd_error_free(*error);
    *error = NULL;
}

k8s_sd_context* open_context(uint64_t flags) {
    k8s_sd_options options = K8S_SD_INIT(k8s_sd_options);
    k8s_sd_error* error = NULL;
    k8s_sd_context* context;
    options.flags = flags;
    options.log_level = K8S_SD_LOG_ERROR;
    context = k8s_sd_open(&options, &error);
    expect_ok(error);
    CHECK(context);
    return context;
}

/* Waits by poll(2) where there is a descriptor, else by k8s_sd_poll(). */
static void wait_for_event(k8s_sd_context* context) {
    k8s_sd_error* error = NULL;
    struct pollfd waiting;
    int ready;
    waiting.fd = k8s_sd_fd(context);
    waiting.events = POLLIN;
    if (waiting.fd < 0) {
        ready = k8s_sd_poll(context, -1, &error);
        expect_ok(error);
        CHECK(ready == 1);
        return;
    }
    do {
        ready = poll(&waiting, 1, -1);
    } while (ready < 0 && errno == EINTR);
    CHECK(ready == 1);
}

static k8s_sd_event* next_of_any_type(k8s_sd_context* context) {
    for (;;) {
        k8s_sd_event* event = k8s_sd_next(context);
        if (event) return event;
        wait_for_event(context);
    }
}

k8s_sd_event* next_event(k8s_sd_context* context) {
    for (;;) {
        k8s_sd_event* event = next_of_any_type(context);
        if (k8s_sd_event_type_of(event) != K8S_SD_STATUS) return event;
        k8s_sd_event_free(event);
    }
}

void await_status(k8s_sd_context* context, int synced, const char* text) {
    for (;;) {
        k8s_sd_event* event = next_of_any_type(context);
        const k8s_sd_string message = k8s_sd_event_message(event);
        const int found = k8s_sd_event_type_of(event) == K8S_SD_STATUS &&
                          k8s_sd_event_synced(event) == synced &&
                          (*text ? contains(message, text) : message.size == 0);
        k8s_sd_event_free(event);
        if (found) return;
    }
}

k8s_sd_id discover_pods(k8s_sd_context* context, const struct server* server, const char* more) {
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_id id = 0;
    char yaml[512], tls[128] = "";
    if (*server->authority) {
        snprintf(tls, sizeof tls, "tls_config: {ca_file: %s}\n", server->authority);
    }
    snprintf(yaml, sizeof yaml, "role: pod\napi_server: %s\n%s%s", server->url, tls, more);
    config.yaml = yaml;
    k8s_sd_discover(context, &config, &id, &error);
    expect_ok(error);
    CHECK(id > 0);
    return id;
}

int is(k8s_sd_string view, const char* text) {
    return view.data && view.size == strlen(text) && memcmp(view.data, text, view.size) == 0;
}

int contains(k8s_sd_string view, const char* text) {
    const size_t size = strlen(text);
    size_t i;
    for (i = 0; i + size <= view.size; ++i) {
        if (memcmp(view.data + i, text, size) == 0) return 1;
    }
    return 0;
}

/* 1: the last change of the group in this event has the address, or removes it for NULL. */
static int reaches(k8s_sd_event* event, const char* source, const char* address) {
    int reached = 0;
    size_t i;
    for (i = 0; i < k8s_sd_event_size(event); ++i) {
        if (!is(k8s_sd_change_key(event, i), source)) continue;
        if (k8s_sd_change_op(event, i) == K8S_SD_REMOVED) {
            reached = !address;
        } else {
            reached = address &&
                      is(k8s_sd_change_value(event, i, 0, "__address__"), address);
        }
    }
    return reached;
}

void await_address(k8s_sd_context* context, const char* source, const char* address) {
    int reached = 0;
    while (!reached) {
        k8s_sd_event* event = next_event(context);
        reached = reaches(event, source, address);
        k8s_sd_event_free(event);
    }
}

void write_file(char* path, size_t size, const char* text) {
    FILE* file;
    if (!*path) {
        int fd;
        snprintf(path, size, "/tmp/k8s-sd-c-XXXXXX");
        fd = mkstemp(path);
        CHECK(fd >= 0);
        close(fd);
    }
    file = fopen(path, "w");
    CHECK(file);
    CHECK(fputs(text, file) >= 0 && fclose(file) == 0);
}
