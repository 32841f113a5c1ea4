/* The library in its process: fork(), signals, exit(), threads of the host, log callbacks. */

#define _POSIX_C_SOURCE 200809L

#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* With ThreadSanitizer, a child may start no threads, and there is a thread of its own. */
#ifdef K8S_SD_THREAD_SANITIZER
enum { has_thread_sanitizer = 1 };
#else
enum { has_thread_sanitizer = 0 };
#endif

/* Ends a child that hangs. */
static void set_alarm(void) { alarm(60); }

static void expect_success(pid_t child) {
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (status != 0) fprintf(stderr, "the child ends with status %x\n", (unsigned)status);
    CHECK(status == 0);
}

/* In the child: the parent's context is refused, its events can be read, another context works. */
static void play_child(k8s_sd_context* parents, k8s_sd_event* event, const struct server* server) {
    k8s_sd_context* own;
    k8s_sd_error* error = NULL;
    set_alarm();
    CHECK(k8s_sd_poll(parents, -1, &error) == K8S_SD_FORKED);
    expect_error(&error, K8S_SD_FORKED);
    CHECK(!k8s_sd_next(parents) && !k8s_sd_status_json(parents, NULL));
    k8s_sd_close(parents);
    k8s_sd_free(parents);
    CHECK(is(k8s_sd_change_key(event, 0), "pod/shop/web-0"));
    k8s_sd_event_free(event);
    own = open_context(0);
    discover_pods(own, server, "");
    k8s_sd_event_free(next_event(own));
    k8s_sd_free(own);
    _exit(0);
}

static void forks(uint64_t flags) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_event* event;
    pid_t child;
    apply_pod(&server, "web-0", "10.0.0.1");
    discover_pods(context, &server, "");
    event = next_event(context);
    child = fork();
    if (child == 0) play_child(context, event, &server);
    expect_success(child);
    /* The parent goes on. */
    k8s_sd_event_free(event);
    apply_pod(&server, "web-0", "10.0.0.2");
    await_address(context, "pod/shop/web-0", "10.0.0.2:80");
    k8s_sd_free(context);
    stop_server(&server);
}

static void forking(void) {
    if (has_thread_sanitizer) return;
    forks(0);
    forks(K8S_SD_NO_THREAD);
}

/* The parent forks right after its first threads have started. */
static void forking_at_once(void) {
    struct server server = start_server();
    int i;
    for (i = 0; i < 20 && !has_thread_sanitizer; ++i) {
        k8s_sd_context* context = open_context(0);
        pid_t child;
        discover_pods(context, &server, "");
        child = fork();
        if (child == 0) {
            k8s_sd_context* own;
            set_alarm();
            own = open_context(0);
            discover_pods(own, &server, "");
            k8s_sd_event_free(next_event(own));
            k8s_sd_free(own);
            _exit(0);
        }
        expect_success(child);
        k8s_sd_free(context);
    }
    stop_server(&server);
}

/* A process that returns from main() with an open context. */
static void exiting(void) {
    struct server server = start_server();
    pid_t child = has_thread_sanitizer ? -1 : fork();
    if (has_thread_sanitizer) {
        stop_server(&server);
        return;
    }
    if (child == 0) {
        k8s_sd_context* context;
        set_alarm();
        context = open_context(0);
        discover_pods(context, &server, "");
        k8s_sd_event_free(next_event(context));
        exit(0);
    }
    expect_success(child);
    stop_server(&server);
}

/* Whether all threads but the first block these signals, by their masks in hexadecimal. */
static void check_masks(void) {
    char command[128], line[128];
    FILE* masks;
    int threads = 0;
    snprintf(command, sizeof command,
             "for t in /proc/%d/task/*; do [ ${t##*/} = %d ] || grep SigBlk $t/status; done",
             (int)getpid(), (int)getpid());
    masks = popen(command, "r");
    CHECK(masks);
    while (fgets(line, sizeof line, masks)) {
        const unsigned long long blocked = strtoull(line + strlen("SigBlk:"), NULL, 16);
        const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGALRM};
        size_t i;
        for (i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
            CHECK(blocked >> (numbers[i] - 1) & 1);
        }
        ++threads;
    }
    pclose(masks);
    CHECK(threads > 0);
}

/* The library changes no handler, and its threads block all signals. */
static void signal_handlers(void) {
    struct server server = start_server();
    k8s_sd_context* context;
    struct sigaction before[32], after;
    int i;
    for (i = 1; i < 32; ++i) sigaction(i, NULL, &before[i]);
    context = open_context(0);
    discover_pods(context, &server, "");
    k8s_sd_event_free(next_event(context));
    if (!has_thread_sanitizer) check_masks();
    k8s_sd_free(context);
    for (i = 1; i < 32; ++i) {
        CHECK(sigaction(i, NULL, &after) == 0);
        CHECK(after.sa_handler == before[i].sa_handler);
    }
    stop_server(&server);
}

static void* take_events(void* context) {
    k8s_sd_error* error = NULL;
    for (;;) {
        const int ready = k8s_sd_poll(context, -1, &error);
        if (ready < 0) {
            expect_error(&error, K8S_SD_CLOSED);
            return NULL;
        }
        k8s_sd_event_free(k8s_sd_next(context));
    }
}

static void* add_and_cancel(void* context) {
    int i;
    for (i = 0; i < 50; ++i) {
        k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
        k8s_sd_id id = 0;
        config.yaml = "{role: pod, api_server: 'http://127.0.0.1:1'}";
        if (k8s_sd_discover(context, &config, &id, NULL) != K8S_SD_OK) break;
        k8s_sd_text_free(k8s_sd_status_json(context, NULL));
        k8s_sd_cancel(context, id, NULL);
    }
    return NULL;
}

/* One thread takes events, two add watches, another one closes. */
static void host_threads(uint64_t flags) {
    k8s_sd_context* context = open_context(flags | K8S_SD_EVENTS_AS_JSON);
    pthread_t taker, first, second;
    CHECK(pthread_create(&taker, NULL, take_events, context) == 0);
    CHECK(pthread_create(&first, NULL, add_and_cancel, context) == 0);
    CHECK(pthread_create(&second, NULL, add_and_cancel, context) == 0);
    pthread_join(first, NULL);
    k8s_sd_close(context);
    pthread_join(second, NULL);
    pthread_join(taker, NULL);
    k8s_sd_free(context);
}

static void threads(void) {
    host_threads(0);
    host_threads(K8S_SD_NO_THREAD);
}

struct log {
    k8s_sd_context* context;
    int lines;
    int refused;
};

static void on_line(void* user, k8s_sd_log_level level, const char* line) {
    struct log* log = user;
    CHECK(level >= K8S_SD_LOG_ERROR && *line && !strchr(line, '\n'));
    ++log->lines;
    /* Against the rules, and yet harmless. */
    if (log->context) log->refused += k8s_sd_poll(log->context, 0, NULL) == K8S_SD_BUSY;
}

static void logging(void) {
    struct server server = start_server();
    struct log log = {NULL, 0, 0};
    k8s_sd_options options = K8S_SD_INIT(k8s_sd_options);
    options.flags = K8S_SD_NO_THREAD;
    options.log = on_line;
    options.log_user = &log;
    tell(&server, "deny pods");
    log.context = k8s_sd_open(&options, NULL);
    discover_pods(log.context, &server, "");
    await_status(log.context, 0, "pods");
    while (log.lines == 0) CHECK(k8s_sd_poll(log.context, 100, NULL) >= 0);
    CHECK(log.refused == log.lines);
    k8s_sd_free(log.context);
    stop_server(&server);
}

int main(int argc, char** argv) {
    static const struct test tests[] = {
        /* First, since a child cannot free what the parent has allocated for itself. */
        {"exit: an open context ends with the process", exiting},
        {"fork: a child opens a context of its own", forking},
        {"fork: a child is made while threads start", forking_at_once},
        {"signals: handlers stay, threads of the library get none", signal_handlers},
        {"threads: adding, taking and closing at the same time", threads},
        {"log: lines go to the callback", logging},
        {NULL, NULL}};
    return run_tests(argc, argv, tests);
}
