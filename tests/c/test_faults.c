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

/* Waits for a status of a watch, of a job or of none. */
static void await_status_of(k8s_sd_context* context, k8s_sd_id id, const char* job, int synced,
                            const char* text) {
    int found = 0;
    while (!found) {
        k8s_sd_event* event = k8s_sd_next(context);
        if (!event) {
            CHECK(k8s_sd_poll(context, -1, NULL) == 1);
            continue;
        }
        if (k8s_sd_event_type_of(event) == K8S_SD_STATUS && k8s_sd_event_watch(event) == id) {
            const k8s_sd_string message = k8s_sd_event_message(event);
            CHECK(is(k8s_sd_event_job(event), job));
            found = k8s_sd_event_synced(event) == synced &&
                    (*text ? contains(message, text) : message.size == 0);
        }
        k8s_sd_event_free(event);
    }
}

/* The status of jobs and of a followed Secret. */
static void status(uint64_t flags) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_query query = K8S_SD_INIT(k8s_sd_query);
    k8s_sd_error* error = NULL;
    k8s_sd_id jobs = 0, secret = 0;
    char yaml[256], address[96];
    tell(&server, "deny pods");
    tell(&server, "deny secrets");
    snprintf(yaml, sizeof yaml,
             "scrape_configs: [{job_name: web, kubernetes_sd_configs: [{role: pod, api_server: "
             "'%s'}]}]",
             server.url);
    config.yaml = yaml;
    k8s_sd_scrape(context, &config, &jobs, &error);
    expect_ok(error);
    snprintf(address, sizeof address, "api_server: %s", server.url);
    query.server = address;
    query.kind = "Secret";
    query.name_space = "shop";
    query.name = "db";
    k8s_sd_follow(context, &query, &secret, &error);
    expect_ok(error);
    await_status_of(context, jobs, "web", 0, "403");
    tell(&server, "allow pods");
    await_status_of(context, jobs, "web", 1, "");
    tell(&server, "allow secrets");
    await_status_of(context, secret, "", 1, "");
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
static void test_status(void) {
    status(0);
    status(K8S_SD_NO_THREAD | K8S_SD_EVENTS_AS_JSON);
}
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
                                        {"faults: the status of jobs and Secrets", test_status},
                                        {NULL, NULL}};
    return run_tests(argc, argv, tests);
}
