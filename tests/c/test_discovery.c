/* Discovery and scrape targets, through both drives. */

#include "support.h"

#include <string.h>

static const uint64_t drives[] = {0, K8S_SD_NO_THREAD};

static void check_first_event(k8s_sd_event* event, k8s_sd_id id, int* user) {
    k8s_sd_pair pairs[64];
    size_t count;
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_GROUPS);
    CHECK(k8s_sd_event_watch(event) == id && k8s_sd_event_user(event) == user);
    CHECK(k8s_sd_event_full(event) == 1 && k8s_sd_event_size(event) == 1);
    CHECK(k8s_sd_change_op(event, 0) == K8S_SD_ADDED);
    CHECK(is(k8s_sd_change_key(event, 0), "pod/shop/web-0"));
    CHECK(k8s_sd_change_targets(event, 0) == 1);
    CHECK(is(k8s_sd_change_value(event, 0, 0, "__address__"), "10.0.0.1:80"));
    /* A label of the group. */
    CHECK(is(k8s_sd_change_value(event, 0, 0, "__meta_kubernetes_namespace"), "shop"));
    CHECK(!k8s_sd_change_value(event, 0, 0, "missing").data);
    count = k8s_sd_change_pairs(event, 0, K8S_SD_LABELS, pairs, 64);
    CHECK(count > 5 && count <= 64);
    memset(pairs, 0, sizeof pairs);
    CHECK(k8s_sd_change_pairs(event, 0, K8S_SD_LABELS, pairs, 1) == count);
    CHECK(pairs[0].name.data && !pairs[1].name.data);
    CHECK(contains(k8s_sd_event_json(event), "\"key\":\"pod/shop/web-0\""));
    CHECK(k8s_sd_event_json(event).data[k8s_sd_event_json(event).size] == 0);
}

static void discovers(uint64_t flags) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_event* event;
    k8s_sd_event* kept;
    k8s_sd_id id = 0;
    char yaml[128], *text;
    int user;
    apply_pod(&server, "web-0", "10.0.0.1");
    snprintf(yaml, sizeof yaml, "role: pod\napi_server: %s", server.url);
    config.yaml = yaml;
    config.user = &user;
    CHECK(k8s_sd_discover(context, &config, &id, &error) == K8S_SD_OK);
    memset(yaml, 0, sizeof yaml); /* the library has a copy */

    kept = next_event(context);
    check_first_event(kept, id, &user);

    apply_pod(&server, "web-0", "10.0.0.2");
    event = next_event(context);
    CHECK(k8s_sd_event_full(event) == 0 && k8s_sd_event_size(event) == 1);
    CHECK(k8s_sd_change_op(event, 0) == K8S_SD_CHANGED);
    CHECK(is(k8s_sd_change_value(event, 0, 0, "__address__"), "10.0.0.2:80"));
    k8s_sd_event_free(event);

    tell(&server, "remove pods shop web-0");
    event = next_event(context);
    CHECK(k8s_sd_change_op(event, 0) == K8S_SD_REMOVED);
    CHECK(is(k8s_sd_change_key(event, 0), "pod/shop/web-0"));
    CHECK(k8s_sd_change_targets(event, 0) == 0);
    k8s_sd_event_free(event);

    text = k8s_sd_status_json(context, &error);
    CHECK(text && strstr(text, "\"synced\":true") && strstr(text, "\"kind\":\"pods\""));
    k8s_sd_text_free(text);
    text = k8s_sd_metrics_text(context, &error);
    CHECK(text && strstr(text, "k8s_sd_lists_total{resource=\"pods\"} 1"));
    k8s_sd_text_free(text);

    CHECK(k8s_sd_cancel(context, id, &error) == K8S_SD_OK);
    CHECK(k8s_sd_cancel(context, id, &error) == K8S_SD_NOT_FOUND);
    expect_error(&error, K8S_SD_NOT_FOUND);
    k8s_sd_free(context);
    /* An event outlives its context. */
    check_first_event(kept, id, &user);
    k8s_sd_event_free(kept);
    stop_server(&server);
}

static void scrapes(uint64_t flags) {
    static const char format[] =
        "scrape_configs:\n- job_name: web\n  scrape_interval: 15s\n  scrape_timeout: 5s\n"
        "  kubernetes_sd_configs: [{role: pod, api_server: '%s'}]\n"
        "  relabel_configs: [{source_labels: [__meta_kubernetes_pod_name], target_label: pod}, "
        "{target_label: version, replacement: '%s'}]\n";
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_event* event;
    k8s_sd_id id = 0;
    char yaml[512];
    apply_pod(&server, "web-0", "10.0.0.1");
    snprintf(yaml, sizeof yaml, format, server.url, "1");
    config.yaml = yaml;
    k8s_sd_scrape(context, &config, &id, &error);
    expect_ok(error);

    event = next_event(context);
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_TARGETS && k8s_sd_event_full(event) == 1);
    CHECK(is(k8s_sd_event_job(event), "web") && k8s_sd_event_size(event) == 1);
    CHECK(k8s_sd_change_op(event, 0) == K8S_SD_ADDED);
    CHECK(is(k8s_sd_change_value(event, 0, K8S_SD_LABELS, "pod"), "web-0"));
    CHECK(is(k8s_sd_change_url(event, 0), "http://10.0.0.1:80/metrics"));
    CHECK(k8s_sd_change_interval_ms(event, 0) == 15000);
    CHECK(k8s_sd_change_timeout_ms(event, 0) == 5000);
    CHECK(contains(k8s_sd_event_json(event), "\"interval_ms\":15000"));
    k8s_sd_event_free(event);

    /* Equal text changes nothing; other rules restart the target. */
    CHECK(k8s_sd_reload(context, id, &config, &error) == K8S_SD_OK);
    snprintf(yaml, sizeof yaml, format, server.url, "2");
    k8s_sd_reload(context, id, &config, &error);
    expect_ok(error);
    event = next_event(context);
    CHECK(k8s_sd_event_full(event) == 0 && k8s_sd_event_size(event) == 2);
    CHECK(k8s_sd_change_op(event, 0) == K8S_SD_REMOVED);
    CHECK(k8s_sd_change_op(event, 1) == K8S_SD_ADDED);
    CHECK(is(k8s_sd_change_value(event, 1, K8S_SD_LABELS, "version"), "2"));
    k8s_sd_event_free(event);

    /* A mistake leaves the previous text in force. */
    config.yaml = "scrape_configs: [{job_name: web, scrape_interval: never}]";
    CHECK(k8s_sd_reload(context, id, &config, &error) == K8S_SD_INVALID_CONFIG);
    CHECK(strstr(k8s_sd_error_text(error), "scrape_interval"));
    expect_error(&error, K8S_SD_INVALID_CONFIG);
    config.yaml = "scrape_configs: []";
    CHECK(k8s_sd_reload(context, id, &config, &error) == K8S_SD_OK);
    event = next_event(context);
    CHECK(k8s_sd_event_size(event) == 1 && k8s_sd_change_op(event, 0) == K8S_SD_REMOVED);
    k8s_sd_event_free(event);
    k8s_sd_free(context);
    stop_server(&server);
}

/* A job that leaves and comes back while its events wait has its targets in the end. */
static void returns(uint64_t flags) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_id id = 0;
    char yaml[256];
    int found = 0;
    apply_pod(&server, "web-0", "10.0.0.1");
    snprintf(yaml, sizeof yaml,
             "scrape_configs: [{job_name: web, kubernetes_sd_configs: [{role: pod, api_server: "
             "'%s'}]}]",
             server.url);
    config.yaml = yaml;
    k8s_sd_scrape(context, &config, &id, &error);
    expect_ok(error);
    k8s_sd_event_free(next_event(context));
    config.yaml = "scrape_configs: []";
    CHECK(k8s_sd_reload(context, id, &config, &error) == K8S_SD_OK);
    CHECK(k8s_sd_poll(context, -1, &error) == 1); /* the removal waits */
    config.yaml = yaml;
    CHECK(k8s_sd_reload(context, id, &config, &error) == K8S_SD_OK);
    while (!found) {
        k8s_sd_event* event = next_event(context);
        found = k8s_sd_event_full(event) && k8s_sd_event_size(event) == 1 &&
                k8s_sd_change_op(event, 0) == K8S_SD_ADDED;
        k8s_sd_event_free(event);
    }
    k8s_sd_free(context);
    stop_server(&server);
}

/* A job is gone, and the text is replaced once more, while its previous event waits: the host still
 * learns that its targets are gone. */
static void leaves(void) {
    static const char format[] =
        "scrape_configs: [{job_name: %s, kubernetes_sd_configs: [{role: pod, api_server: '%s'}], "
        "relabel_configs: [{target_label: version, replacement: '%d'}]}]";
    struct server server = start_server();
    k8s_sd_context* context = open_context(K8S_SD_NO_THREAD);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_id id = 0;
    char yaml[512];
    int version, i, removed = 0;
    apply_pod(&server, "web-0", "10.0.0.1");
    config.yaml = yaml;
    snprintf(yaml, sizeof yaml, format, "web", server.url, 1);
    k8s_sd_scrape(context, &config, &id, &error);
    expect_ok(error);
    k8s_sd_event_free(next_event(context));
    snprintf(yaml, sizeof yaml, format, "web", server.url, 2);
    CHECK(k8s_sd_reload(context, id, &config, &error) == K8S_SD_OK);
    for (version = 1; version < 3; ++version) {
        snprintf(yaml, sizeof yaml, format, "other", server.url, version);
        CHECK(k8s_sd_reload(context, id, &config, &error) == K8S_SD_OK);
        for (i = 0; i < 10; ++i) CHECK(k8s_sd_poll(context, 0, &error) >= 0);
    }
    while (removed < 2) { /* by the second version, and with the job */
        k8s_sd_event* event = next_event(context);
        if (is(k8s_sd_event_job(event), "web")) {
            removed += k8s_sd_change_op(event, 0) == K8S_SD_REMOVED;
        }
        k8s_sd_event_free(event);
    }
    k8s_sd_free(context);
    stop_server(&server);
}

/* Takes the parts of a complete state of 25 changes in events of at most 10. */
static void expect_parts(k8s_sd_context* context) {
    static const size_t sizes[] = {10, 10, 5};
    size_t part;
    for (part = 0; part < 3; ++part) {
        k8s_sd_event* event = next_event(context);
        CHECK(k8s_sd_event_full(event) == (part == 0) && k8s_sd_event_more(event) == (part < 2));
        CHECK(k8s_sd_event_size(event) == sizes[part]);
        CHECK(contains(k8s_sd_event_json(event), part < 2 ? "\"more\":true" : "\"more\":false"));
        k8s_sd_event_free(event);
    }
}

static void apply_25_pods(struct server* server) {
    char name[16], address[16];
    int i;
    for (i = 1; i <= 25; ++i) {
        snprintf(name, sizeof name, "web-%d", i);
        snprintf(address, sizeof address, "10.0.0.%d", i);
        apply_pod(server, name, address);
    }
}

static void discovers_in_parts(uint64_t flags) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_event* event;
    char yaml[128];
    apply_25_pods(&server);
    snprintf(yaml, sizeof yaml, "role: pod\napi_server: %s", server.url);
    config.yaml = yaml;
    config.max_changes = 10;
    k8s_sd_discover(context, &config, NULL, &error);
    expect_ok(error);
    expect_parts(context);
    tell(&server, "remove pods shop web-1");
    event = next_event(context);
    CHECK(k8s_sd_event_size(event) == 1 && k8s_sd_event_more(event) == 0);
    k8s_sd_event_free(event);
    k8s_sd_free(context);
    stop_server(&server);
}

/* The restart of 25 targets stops all of them before it starts the first one again. */
static void scrapes_in_parts(uint64_t flags) {
    static const char format[] =
        "scrape_configs: [{job_name: web, kubernetes_sd_configs: [{role: pod, api_server: '%s'}], "
        "relabel_configs: [{target_label: version, replacement: '%d'}]}]";
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_id id = 0;
    char yaml[512];
    size_t i, removed = 0, added = 0;
    int more = 1;
    apply_25_pods(&server);
    snprintf(yaml, sizeof yaml, format, server.url, 1);
    config.yaml = yaml;
    config.max_changes = 10;
    k8s_sd_scrape(context, &config, &id, &error);
    expect_ok(error);
    expect_parts(context);

    snprintf(yaml, sizeof yaml, format, server.url, 2);
    config.max_changes = 7; /* of the diff of this reload, too */
    CHECK(k8s_sd_reload(context, id, &config, &error) == K8S_SD_OK);
    while (more) {
        k8s_sd_event* event = next_event(context);
        more = k8s_sd_event_more(event);
        CHECK(k8s_sd_event_full(event) == 0 && k8s_sd_event_size(event) <= 7);
        for (i = 0; i < k8s_sd_event_size(event); ++i) {
            const int op = k8s_sd_change_op(event, i);
            CHECK(op == (removed < 25 ? K8S_SD_REMOVED : K8S_SD_ADDED));
            op == K8S_SD_REMOVED ? ++removed : ++added;
        }
        k8s_sd_event_free(event);
    }
    CHECK(removed == 25 && added == 25);
    k8s_sd_free(context);
    stop_server(&server);
}

/* The number of the only pod of apply_25_pods() that is no target of the event. */
static int missing_in(k8s_sd_event* event) {
    char url[64];
    size_t i;
    int pod;
    for (pod = 1; pod <= 25; ++pod) {
        snprintf(url, sizeof url, "http://10.0.0.%d:80/metrics", pod);
        for (i = 0; i < k8s_sd_event_size(event); ++i) {
            if (is(k8s_sd_change_url(event, i), url)) break;
        }
        if (i == k8s_sd_event_size(event)) return pod;
    }
    return 0;
}

/* A reload drops the rest of a diff between its parts: an event ends the diff nevertheless. */
static void loses_the_last_part(void) {
    static const char format[] =
        "scrape_configs: [{job_name: web, kubernetes_sd_configs: [{role: pod, api_server: '%s'}], "
        "relabel_configs: [{source_labels: [__meta_kubernetes_pod_name], regex: 'web-%d', action: "
        "drop}]}]";
    struct server server = start_server();
    k8s_sd_context* context = open_context(K8S_SD_NO_THREAD);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_event* event;
    k8s_sd_id id = 0;
    char yaml[512];
    apply_25_pods(&server);
    snprintf(yaml, sizeof yaml, format, server.url, 0);
    config.yaml = yaml;
    config.max_changes = 24;
    k8s_sd_scrape(context, &config, &id, &error);
    expect_ok(error);
    event = next_event(context);
    CHECK(k8s_sd_event_size(event) == 24 && k8s_sd_event_more(event) == 1);
    snprintf(yaml, sizeof yaml, format, server.url, missing_in(event));
    k8s_sd_event_free(event);
    CHECK(k8s_sd_reload(context, id, &config, &error) == K8S_SD_OK);
    CHECK(k8s_sd_poll(context, 60000, &error) == 1);
    event = next_event(context);
    CHECK(k8s_sd_event_size(event) == 0 && k8s_sd_event_more(event) == 0);
    CHECK(k8s_sd_event_full(event) == 0);
    k8s_sd_event_free(event);
    k8s_sd_free(context);
    stop_server(&server);
}

static void on_both_drives(void (*test)(uint64_t)) {
    size_t i;
    for (i = 0; i < sizeof drives / sizeof *drives; ++i) {
        test(drives[i]);
        test(drives[i] | K8S_SD_EVENTS_AS_JSON);
    }
}

static void discovery(void) { on_both_drives(discovers); }
static void scraping(void) { on_both_drives(scrapes); }
static void parts(void) {
    on_both_drives(discovers_in_parts);
    on_both_drives(scrapes_in_parts);
}
static void returning(void) { on_both_drives(returns); }

/* However many changes there are, one event waits; the host gets the latest state. */
static void coalesces(uint64_t flags) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_event* event;
    size_t events = 0;
    int i;
    discover_pods(context, &server, "");
    k8s_sd_event_free(next_event(context)); /* the empty state */
    for (i = 0; i < 300; ++i) {
        char address[32];
        snprintf(address, sizeof address, "10.0.%d.%d", i / 100, i % 100 + 1);
        apply_pod(&server, "web-0", address);
    }
    apply_pod(&server, "last", "10.0.9.9");
    /* The watch has read everything once the metrics count all events; the host takes none. */
    for (;;) {
        k8s_sd_error* error = NULL;
        char* text = k8s_sd_metrics_text(context, &error);
        const int done = strstr(text, "k8s_sd_events_total{resource=\"pods\"} 301") != NULL;
        k8s_sd_text_free(text);
        if (done) break;
        k8s_sd_poll(context, 10, NULL);
    }
    do {
        event = next_event(context);
        CHECK(k8s_sd_event_size(event) <= 2);
        ++events;
        if (is(k8s_sd_change_key(event, k8s_sd_event_size(event) - 1), "pod/shop/last") ||
            is(k8s_sd_change_key(event, 0), "pod/shop/last")) {
            break;
        }
        k8s_sd_event_free(event);
    } while (1);
    k8s_sd_event_free(event);
    CHECK(events <= 2); /* the one that waited, and the one behind it */
    k8s_sd_free(context);
    stop_server(&server);
}

/* The metrics of two clusters are apart, and each family has one description. */
static void metrics(void) {
    static const char family[] = "# TYPE k8s_sd_watch_synced ";
    struct server first = start_server(), second = start_server();
    k8s_sd_context* context = open_context(0);
    k8s_sd_error* error = NULL;
    const char* found;
    char* text;
    discover_pods(context, &first, "");
    discover_pods(context, &second, "");
    k8s_sd_event_free(next_event(context)); /* the empty state of one, and of the other */
    k8s_sd_event_free(next_event(context));
    text = k8s_sd_metrics_text(context, &error);
    expect_ok(error);
    CHECK(strstr(text, "k8s_sd_lists_total"));
    found = strstr(text, family);
    CHECK(found && !strstr(found + 1, family));
    CHECK(strstr(text, "watch=\"1\"") && strstr(text, "watch=\"2\""));
    k8s_sd_text_free(text);
    k8s_sd_free(context);
    stop_server(&second); /* it has copies of the pipes of the first one */
    stop_server(&first);
}

static void queue_bound(void) {
    coalesces(0);
    coalesces(K8S_SD_NO_THREAD);
}

/* The number of targets of the first event of a pod that has succeeded. */
static size_t targets_of_succeeded(uint64_t flags, const struct server* server, int32_t dialect) {
    k8s_sd_context* context = open_context(flags);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    k8s_sd_event* event;
    char yaml[128];
    size_t i, targets = 0;
    snprintf(yaml, sizeof yaml, "role: pod\napi_server: %s", server->url);
    config.yaml = yaml;
    config.dialect = dialect;
    k8s_sd_discover(context, &config, NULL, &error);
    expect_ok(error);
    event = next_event(context);
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_GROUPS && k8s_sd_event_full(event) == 1);
    for (i = 0; i < k8s_sd_event_size(event); ++i) targets += k8s_sd_change_targets(event, i);
    k8s_sd_event_free(event);
    k8s_sd_free(context);
    return targets;
}

static void dialects(void) {
    struct server server = start_server();
    size_t i;
    tell(&server,
         "apply {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"namespace\": \"shop\", "
         "\"name\": \"job\"}, \"spec\": {\"containers\": [{\"name\": \"job\", \"ports\": "
         "[{\"containerPort\": 80}]}]}, \"status\": {\"phase\": \"Succeeded\", \"podIP\": "
         "\"10.0.0.1\"}}");
    for (i = 0; i < sizeof drives / sizeof *drives; ++i) {
        CHECK(targets_of_succeeded(drives[i], &server, K8S_SD_PROMETHEUS) == 1);
        CHECK(targets_of_succeeded(drives[i], &server, K8S_SD_VICTORIAMETRICS) == 0);
    }
    stop_server(&server);
}

int main(int argc, char** argv) {
    static const struct test tests[] = {
        {"discovery: the complete state, then true changes", discovery},
        {"discovery: the targets of each dialect", dialects},
        {"scrape: targets after relabelling, and reloads", scraping},
        {"parts: events have at most max_changes", parts},
        {"parts: an event ends a diff whose rest a reload has dropped", loses_the_last_part},
        {"scrape: a job leaves and comes back", returning},
        {"scrape: a job leaves while its event waits", leaves},
        {"metrics: two clusters", metrics},
        {"queue: one event of a watch, changes are coalesced behind it", queue_bound},
        {NULL, NULL}};
    return run_tests(argc, argv, tests);
}
