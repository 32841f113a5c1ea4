/* The faults that stop other clients: each is followed by a change that must arrive. */

#include "support.h"

#include <string.h>
#include <unistd.h>

typedef struct server (*start_function)(void);

struct cluster {
    struct server server;
    k8s_sd_context* context;
};

static struct cluster start(uint64_t flags, start_function start_one) {
    struct cluster cluster;
    cluster.server = start_one();
    cluster.context = open_context(flags);
    apply_pod(&cluster.server, "web-0", "10.0.0.1");
    discover_pods(cluster.context, &cluster.server, "");
    await_address(cluster.context, "pod/shop/web-0", "10.0.0.1:80");
    return cluster;
}

static void end(struct cluster* cluster) {
    k8s_sd_free(cluster->context);
    stop_server(&cluster->server);
}

static void change(struct cluster* cluster, const char* address) {
    char expected[32];
    apply_pod(&cluster->server, "web-0", address);
    snprintf(expected, sizeof expected, "%s:80", address);
    await_address(cluster->context, "pod/shop/web-0", expected);
}

/* The server has forgotten the version of the watch: 410. Nothing is removed. */
static void expired(uint64_t flags, start_function start_one) {
    struct cluster cluster = start(flags, start_one);
    tell(&cluster.server, "accept no");
    tell(&cluster.server, "drop");
    apply_pod(&cluster.server, "web-1", "10.0.1.1");
    tell(&cluster.server, "remove pods shop web-1");
    apply_pod(&cluster.server, "web-0", "10.0.0.2");
    tell(&cluster.server, "compact");
    tell(&cluster.server, "accept yes");
    for (;;) {
        k8s_sd_event* event = next_event(cluster.context);
        const int done = is(k8s_sd_change_value(event, 0, 0, "__address__"), "10.0.0.2:80");
        CHECK(k8s_sd_event_full(event) == 0 && k8s_sd_change_op(event, 0) != K8S_SD_REMOVED);
        k8s_sd_event_free(event);
        if (done) break;
    }
    change(&cluster, "10.0.0.3");
    end(&cluster);
}

/* The connection is cut, also in the middle of an event. */
static void cut(uint64_t flags, start_function start_one) {
    struct cluster cluster = start(flags, start_one);
    tell(&cluster.server, "drop");
    change(&cluster, "10.0.0.2");
    tell(&cluster.server, "garbage pods");
    change(&cluster, "10.0.0.3");
    tell(&cluster.server, "end");
    change(&cluster, "10.0.0.4");
    end(&cluster);
}

/* The token expires; the file has another one later. */
static void token(uint64_t flags, start_function start_one) {
    struct server server = start_one();
    k8s_sd_context* context = open_context(flags);
    char path[64] = "", more[128];
    write_file(path, sizeof path, "first");
    snprintf(more, sizeof more, "authorization: {credentials_file: %s}", path);
    tell(&server, "token first");
    apply_pod(&server, "web-0", "10.0.0.1");
    discover_pods(context, &server, more);
    await_address(context, "pod/shop/web-0", "10.0.0.1:80");
    tell(&server, "token second");
    tell(&server, "drop");
    await_status(context, 1, "401");
    apply_pod(&server, "web-0", "10.0.0.2");
    write_file(path, sizeof path, "second");
    await_address(context, "pod/shop/web-0", "10.0.0.2:80");
    unlink(path);
    k8s_sd_free(context);
    stop_server(&server);
}

/* A permission is missing, then granted. */
static void forbidden(uint64_t flags, start_function start_one) {
    struct server server = start_one();
    k8s_sd_context* context = open_context(flags);
    apply_pod(&server, "web-0", "10.0.0.1");
    tell(&server, "deny pods");
    discover_pods(context, &server, "");
    await_status(context, 0, "403");
    tell(&server, "allow pods");
    await_address(context, "pod/shop/web-0", "10.0.0.1:80");
    k8s_sd_free(context);
    stop_server(&server);
}

/* The certificate of the server is of an authority that the host does not trust. */
static void untrusted(uint64_t flags) {
    struct server server = start_tls_server();
    k8s_sd_context* context = open_context(flags);
    char authority[sizeof server.authority];
    memcpy(authority, server.authority, sizeof authority);
    apply_pod(&server, "web-0", "10.0.0.1");
    *server.authority = 0;
    discover_pods(context, &server, "");
    await_status(context, 0, "certificate");
    memcpy(server.authority, authority, sizeof authority);
    discover_pods(context, &server, "");
    await_address(context, "pod/shop/web-0", "10.0.0.1:80");
    k8s_sd_free(context);
    stop_server(&server);
}

/* Both drives, without TLS and with it. */
static void in_all_ways(void (*test)(uint64_t, start_function)) {
    test(0, start_server);
    test(K8S_SD_NO_THREAD, start_server);
    test(0, start_tls_server);
    test(K8S_SD_NO_THREAD, start_tls_server);
}

static void test_expired(void) { in_all_ways(expired); }
static void test_cut(void) { in_all_ways(cut); }
static void test_token(void) { in_all_ways(token); }
static void test_forbidden(void) { in_all_ways(forbidden); }
static void test_untrusted(void) {
    untrusted(0);
    untrusted(K8S_SD_NO_THREAD);
}

int main(int argc, char** argv) {
    static const struct test tests[] = {{"faults: 410", test_expired},
                                        {"faults: cut connections", test_cut},
                                        {"faults: an expired token", test_token},
                                        {"faults: a missing permission", test_forbidden},
                                        {"faults: an unknown authority", test_untrusted},
                                        {NULL, NULL}};
    return run_tests(argc, argv, tests);
}
