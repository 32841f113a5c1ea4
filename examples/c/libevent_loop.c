/* Watches the objects of a kind in a libevent loop.  Usage: libevent_loop URL [KIND [GROUP]] */

#include <event2/event.h>
#include <k8s_sd_c.h>
#include <signal.h>
#include <stdio.h>

static const char* const signs[] = {"?", "+", "~", "-"};

/* Called while there are events. */
static void on_ready(evutil_socket_t fd, short what, void* context) {
    k8s_sd_event* event;
    (void)fd, (void)what;
    while ((event = k8s_sd_next(context))) {
        size_t i;
        for (i = 0; i < k8s_sd_event_size(event); ++i) {
            const k8s_sd_string key = k8s_sd_change_key(event, i);
            printf("%s %.*s\n", signs[k8s_sd_change_op(event, i) & 3], (int)key.size, key.data);
        }
        if (k8s_sd_event_message(event).size > 0) {
            const k8s_sd_string message = k8s_sd_event_message(event);
            fprintf(stderr, "%.*s\n", (int)message.size, message.data);
        }
        k8s_sd_event_free(event);
    }
    fflush(stdout);
}

static void on_signal(evutil_socket_t number, short what, void* loop) {
    (void)number, (void)what;
    event_base_loopbreak(loop);
}

int main(int argc, char** argv) {
    static const char* const fields[] = {"metadata", NULL};
    struct event_base* loop = event_base_new();
    k8s_sd_error* error = NULL;
    k8s_sd_context* context = k8s_sd_open(NULL, &error);
    k8s_sd_query query = K8S_SD_INIT(k8s_sd_query);
    struct event *ready, *stop;
    char server[512];
    if (argc < 2) {
        fprintf(stderr, "usage: libevent_loop URL [KIND [GROUP]]\n");
        return 2;
    }
    snprintf(server, sizeof server, "api_server: %s", argv[1]);
    query.server = server;
    query.kind = argc > 2 ? argv[2] : "Pod";
    query.group = argc > 3 ? argv[3] : NULL;
    query.fields = fields;
    if (!context || k8s_sd_watch(context, &query, NULL, &error) != K8S_SD_OK) {
        fprintf(stderr, "%s\n", k8s_sd_error_text(error));
        return 2;
    }
    ready = event_new(loop, k8s_sd_fd(context), EV_READ | EV_PERSIST, on_ready, context);
    stop = evsignal_new(loop, SIGINT, on_signal, loop);
    event_add(ready, NULL);
    event_add(stop, NULL);
    event_base_dispatch(loop);
    event_free(ready);
    event_free(stop);
    event_base_free(loop);
    k8s_sd_free(context);
    return 0;
}
