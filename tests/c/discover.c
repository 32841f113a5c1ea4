/* The part of the program `discover` that the black-box tests use, as a host of the C interface:
 * discover --output json --role ROLE --api-server URL --token-file FILE
 *          --ca-file FILE --tls-server-name NAME */

#define _GNU_SOURCE

#include <k8s_sd_c.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t ended;

static void on_signal(int number) {
    (void)number;
    ended = 1;
}

static void print_text(k8s_sd_string text) {
    size_t i;
    putchar('"');
    for (i = 0; i < text.size; ++i) {
        const unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\' || c < 0x20) {
            printf("\\u%04x", c);
        } else {
            putchar(c);
        }
    }
    putchar('"');
}

static void print_pairs(const k8s_sd_event* event, size_t change, int64_t set) {
    k8s_sd_pair pairs[512];
    const size_t count = k8s_sd_change_pairs(event, change, set, pairs, 512);
    size_t i;
    putchar('{');
    for (i = 0; i < count && i < 512; ++i) {
        if (i > 0) putchar(',');
        print_text(pairs[i].name);
        putchar(':');
        print_text(pairs[i].value);
    }
    putchar('}');
}

static void print_group(k8s_sd_event* event, size_t change) {
    size_t i;
    printf("{\"source\":");
    print_text(k8s_sd_change_key(event, change));
    printf(",\"labels\":");
    print_pairs(event, change, K8S_SD_LABELS);
    printf(",\"targets\":[");
    for (i = 0; i < k8s_sd_change_targets(event, change); ++i) {
        if (i > 0) putchar(',');
        print_pairs(event, change, (int64_t)i);
    }
    printf("]}");
}

static void print_diff(k8s_sd_event* event) {
    const size_t size = k8s_sd_event_size(event);
    const char* separator = "";
    size_t i;
    printf("{\"full\":%s,\"updated\":[", k8s_sd_event_full(event) ? "true" : "false");
    for (i = 0; i < size; ++i) {
        if (k8s_sd_change_op(event, i) == K8S_SD_REMOVED) continue;
        printf("%s", separator);
        print_group(event, i);
        separator = ",";
    }
    printf("],\"removed\":[");
    separator = "";
    for (i = 0; i < size; ++i) {
        if (k8s_sd_change_op(event, i) != K8S_SD_REMOVED) continue;
        printf("%s", separator);
        print_text(k8s_sd_change_key(event, i));
        separator = ",";
    }
    printf("]}\n");
    fflush(stdout);
}

/* Writes the configuration; 0: an unknown option. */
static int read_options(int argc, char** argv, char* yaml, size_t size) {
    static const struct {
        const char *option, *format;
    } lines[] = {{"--output", "# %s\n"},
                 {"--role", "role: %s\n"},
                 {"--api-server", "api_server: %s\n"},
                 {"--token-file", "bearer_token_file: %s\n"},
                 {"--ca-file", "tls_config:\n  ca_file: %s\n"},
                 {"--tls-server-name", "  server_name: %s\n"}}; /* behind --ca-file */
    const size_t count = sizeof lines / sizeof *lines;
    size_t used = 0, line;
    int i;
    for (i = 1; i + 1 < argc; i += 2) {
        for (line = 0; line < count && strcmp(argv[i], lines[line].option) != 0;) ++line;
        if (line == count) {
            fprintf(stderr, "unknown option %s\n", argv[i]);
            return 0;
        }
        used += (size_t)snprintf(yaml + used, size - used, lines[line].format, argv[i + 1]);
        if (used >= size) return 0;
    }
    return i == argc;
}

int main(int argc, char** argv) {
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_context* context;
    struct sigaction action;
    struct pollfd waiting;
    sigset_t blocked, original;
    char yaml[2048];
    if (!read_options(argc, argv, yaml, sizeof yaml)) return 77; /* skips the scenario */
    config.yaml = yaml;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &original);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    context = k8s_sd_open(NULL, &error);
    if (!context || k8s_sd_discover(context, &config, NULL, &error) != K8S_SD_OK) {
        fprintf(stderr, "%s\n", k8s_sd_error_text(error));
        return 2;
    }
    waiting.fd = k8s_sd_fd(context);
    waiting.events = POLLIN;
    while (!ended) {
        k8s_sd_event* event;
        if (ppoll(&waiting, 1, NULL, &original) <= 0) continue;
        event = k8s_sd_next(context);
        if (k8s_sd_event_type_of(event) == K8S_SD_GROUPS) print_diff(event);
        k8s_sd_event_free(event);
    }
    k8s_sd_free(context);
    return 0;
}
