/* Objects of any kind, and single Secrets and ConfigMaps. */

#include "support.h"

#include <string.h>

/* A server, a host of it, and what the host asks for. */
struct host {
    struct server server;
    k8s_sd_context* context;
    char yaml[128];
    k8s_sd_query query; /* without a kind */
};

static void begin(struct host* host, uint64_t flags) {
    const k8s_sd_query query = K8S_SD_INIT(k8s_sd_query);
    host->server = start_server();
    host->context = open_context(flags);
    snprintf(host->yaml, sizeof host->yaml, "api_server: %s", host->server.url);
    host->query = query;
    host->query.server = host->yaml;
}

static void end(struct host* host) {
    k8s_sd_free(host->context);
    stop_server(&host->server);
}

static void watch(struct host* host) {
    k8s_sd_error* error = NULL;
    k8s_sd_watch(host->context, &host->query, NULL, &error);
    expect_ok(error);
}

static void follow(struct host* host) {
    k8s_sd_error* error = NULL;
    k8s_sd_follow(host->context, &host->query, NULL, &error);
    expect_ok(error);
}

/* The event has one change, this one. */
static int is_one(const k8s_sd_event* event, int op) {
    return k8s_sd_event_size(event) == 1 && k8s_sd_change_op(event, 0) == op;
}

static void watches(uint64_t flags) {
    static const char* const fields[] = {"metadata.labels", "metadata.annotations", "spec",
                                         "status.podIP", NULL};
    struct host host;
    k8s_sd_event* event;
    k8s_sd_pair pair;
    begin(&host, flags);
    apply_pod(&host.server, "web-0", "10.0.0.1");
    apply_pod(&host.server, "db", "10.0.0.2");
    host.query.kind = "Pod";
    host.query.fields = fields;
    host.query.field_selector = "metadata.name=web-0";
    watch(&host);

    event = next_event(host.context);
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_OBJECTS && k8s_sd_event_full(event) == 1);
    CHECK(is_one(event, K8S_SD_ADDED));
    CHECK(is(k8s_sd_change_key(event, 0), "shop/web-0"));
    CHECK(k8s_sd_change_pairs(event, 0, K8S_SD_LABELS, &pair, 1) == 1);
    CHECK(is(pair.name, "app") && is(pair.value, "web"));
    CHECK(is(k8s_sd_change_value(event, 0, K8S_SD_ANNOTATIONS, "note"), "a"));
    CHECK(k8s_sd_change_pairs(event, 0, K8S_SD_DATA, NULL, 0) == 0);
    CHECK(is(k8s_sd_change_field(event, 0, "/metadata/namespace"), "shop"));
    CHECK(is(k8s_sd_change_field(event, 0, "/metadata/labels/app"), "web"));
    CHECK(is(k8s_sd_change_field(event, 0, "/spec/containers/0/name"), "web"));
    CHECK(is(k8s_sd_change_field(event, 0, "/spec/containers/0/ports/0/containerPort"), "80"));
    CHECK(is(k8s_sd_change_field(event, 0, "/status"), "{\"podIP\":\"10.0.0.1\"}"));
    CHECK(!k8s_sd_change_field(event, 0, "/status/phase").data);
    CHECK(!k8s_sd_change_field(event, 0, "/spec/containers/01").data);
    CHECK(!k8s_sd_change_field(event, 0, "status").data);
    CHECK(!k8s_sd_change_field(event, 0, "").data);
    CHECK(contains(k8s_sd_event_json(event), "\"object\":{\"metadata\":{\"name\":\"web-0\""));
    k8s_sd_event_free(event);

    apply_pod(&host.server, "web-0", "10.0.0.9");
    event = next_event(host.context);
    CHECK(is_one(event, K8S_SD_CHANGED));
    CHECK(is(k8s_sd_change_field(event, 0, "/status/podIP"), "10.0.0.9"));
    k8s_sd_event_free(event);
    tell(&host.server, "remove pods shop web-0");
    event = next_event(host.context);
    CHECK(is_one(event, K8S_SD_REMOVED));
    k8s_sd_event_free(event);
    end(&host);
}

static void apply_secret(struct server* server, const char* value) {
    tell(server,
         "apply {\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"type\": \"Opaque\", \"metadata\": "
         "{\"namespace\": \"shop\", \"name\": \"db\"}, \"data\": {\"password\": \"%s\"}}",
         value);
}

static void follows(uint64_t flags) {
    struct host host;
    k8s_sd_event* event;
    k8s_sd_pair pair;
    begin(&host, flags);
    host.query.kind = "Secret";
    host.query.name_space = "shop";
    host.query.name = "db";
    follow(&host);

    event = next_event(host.context);
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_OBJECT && k8s_sd_event_full(event) == 1);
    CHECK(is_one(event, K8S_SD_REMOVED));
    CHECK(k8s_sd_change_pairs(event, 0, K8S_SD_DATA, &pair, 1) == 0);
    CHECK(is(k8s_sd_change_key(event, 0), "shop/db"));
    k8s_sd_event_free(event);

    apply_secret(&host.server, "YQBi"); /* "a", a zero, "b" */
    event = next_event(host.context);
    CHECK(k8s_sd_change_op(event, 0) == K8S_SD_ADDED);
    CHECK(k8s_sd_change_pairs(event, 0, K8S_SD_DATA, &pair, 1) == 1);
    CHECK(is(pair.name, "password"));
    CHECK(pair.value.size == 3 && memcmp(pair.value.data, "a\0b", 3) == 0);
    CHECK(is(k8s_sd_change_field(event, 0, "/type"), "Opaque"));
    CHECK(contains(k8s_sd_event_json(event), "\"data\":{\"password\":\"YQBi\"}"));
    k8s_sd_event_free(event);

    apply_secret(&host.server, "Yw==");
    event = next_event(host.context);
    CHECK(k8s_sd_change_op(event, 0) == K8S_SD_CHANGED);
    CHECK(is(k8s_sd_change_value(event, 0, K8S_SD_DATA, "password"), "c"));
    k8s_sd_event_free(event);
    end(&host);
}

static void apply_config_map(struct server* server, const char* color) {
    tell(server,
         "apply {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"namespace\": "
         "\"shop\", \"name\": \"settings\"}, \"data\": {\"color\": \"%s\"}}",
         color);
}

static void follows_config_map(uint64_t flags) {
    struct host host;
    k8s_sd_event* event;
    k8s_sd_pair pair;
    begin(&host, flags);
    apply_config_map(&host.server, "red");
    host.query.kind = "ConfigMap";
    host.query.name_space = "shop";
    host.query.name = "settings";
    follow(&host);

    event = next_event(host.context);
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_OBJECT && k8s_sd_event_full(event) == 1);
    CHECK(is_one(event, K8S_SD_ADDED));
    CHECK(is(k8s_sd_change_key(event, 0), "shop/settings"));
    CHECK(k8s_sd_change_pairs(event, 0, K8S_SD_DATA, &pair, 1) == 1);
    CHECK(is(pair.name, "color") && is(pair.value, "red"));
    k8s_sd_event_free(event);

    apply_config_map(&host.server, "blue");
    event = next_event(host.context);
    CHECK(k8s_sd_event_full(event) == 0 && k8s_sd_change_op(event, 0) == K8S_SD_CHANGED);
    CHECK(is(k8s_sd_change_value(event, 0, K8S_SD_DATA, "color"), "blue"));
    k8s_sd_event_free(event);

    tell(&host.server, "remove configmaps shop settings");
    event = next_event(host.context);
    CHECK(is_one(event, K8S_SD_REMOVED));
    CHECK(is(k8s_sd_change_key(event, 0), "shop/settings"));
    CHECK(k8s_sd_change_pairs(event, 0, K8S_SD_DATA, NULL, 0) == 0);
    k8s_sd_event_free(event);
    end(&host);
}

static void apply_deployment(struct server* server, const char* name, const char* app,
                             int replicas) {
    tell(server,
         "apply {\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", \"metadata\": "
         "{\"namespace\": \"shop\", \"name\": \"%s\", \"labels\": {\"app\": \"%s\"}}, "
         "\"spec\": {\"replicas\": %d}}",
         name, app, replicas);
}

/* A kind of another group than the core one, restricted by labels. */
static void watches_deployments(uint64_t flags) {
    struct host host;
    k8s_sd_event* event;
    begin(&host, flags);
    apply_deployment(&host.server, "db", "db", 1);
    apply_deployment(&host.server, "front", "web", 2);
    host.query.group = "apps";
    host.query.kind = "Deployment";
    host.query.label_selector = "app=web";
    watch(&host);

    event = next_event(host.context);
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_OBJECTS && k8s_sd_event_full(event) == 1);
    CHECK(is_one(event, K8S_SD_ADDED));
    CHECK(is(k8s_sd_change_key(event, 0), "shop/front"));
    CHECK(is(k8s_sd_change_field(event, 0, "/spec/replicas"), "2"));
    k8s_sd_event_free(event);

    apply_deployment(&host.server, "db", "db", 5); /* no event */
    apply_deployment(&host.server, "front", "web", 3);
    event = next_event(host.context);
    CHECK(is_one(event, K8S_SD_CHANGED));
    CHECK(is(k8s_sd_change_key(event, 0), "shop/front"));
    CHECK(is(k8s_sd_change_field(event, 0, "/spec/replicas"), "3"));
    k8s_sd_event_free(event);

    apply_deployment(&host.server, "front", "db", 3); /* the selector excludes it now */
    event = next_event(host.context);
    CHECK(is_one(event, K8S_SD_REMOVED));
    CHECK(is(k8s_sd_change_key(event, 0), "shop/front"));
    k8s_sd_event_free(event);
    end(&host);
}

/* The server gets the kind while a host waits for it. */
static void watches_custom_resource(uint64_t flags) {
    struct host host;
    k8s_sd_event* event;
    begin(&host, flags);
    host.query.group = "example.com";
    host.query.kind = "Widget";
    watch(&host);
    await_status(host.context, 0, "no \"Widget\"");

    tell(&host.server, "resource example.com Widget widgets");
    tell(&host.server,
         "apply {\"apiVersion\": \"example.com/v1\", \"kind\": \"Widget\", \"metadata\": "
         "{\"namespace\": \"shop\", \"name\": \"a\"}, \"spec\": {\"size\": 7}}");
    event = next_event(host.context);
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_OBJECTS && k8s_sd_event_full(event) == 1);
    while (k8s_sd_event_size(event) == 0) { /* the kind was found before the object was there */
        k8s_sd_event_free(event);
        event = next_event(host.context);
    }
    CHECK(is_one(event, K8S_SD_ADDED));
    CHECK(is(k8s_sd_change_key(event, 0), "shop/a"));
    CHECK(is(k8s_sd_change_field(event, 0, "/spec/size"), "7"));
    k8s_sd_event_free(event);

    tell(&host.server, "remove widgets shop a");
    event = next_event(host.context);
    CHECK(is_one(event, K8S_SD_REMOVED));
    CHECK(is(k8s_sd_change_key(event, 0), "shop/a"));
    k8s_sd_event_free(event);
    end(&host);
}

static void objects(void) {
    watches(0);
    watches(K8S_SD_NO_THREAD | K8S_SD_EVENTS_AS_JSON);
}

static void secrets(void) {
    follows(0);
    follows(K8S_SD_NO_THREAD | K8S_SD_EVENTS_AS_JSON);
}

static void config_maps(void) {
    follows_config_map(0);
    follows_config_map(K8S_SD_NO_THREAD | K8S_SD_EVENTS_AS_JSON);
}

static void deployments(void) {
    watches_deployments(0);
    watches_deployments(K8S_SD_NO_THREAD | K8S_SD_EVENTS_AS_JSON);
}

static void custom_resources(void) {
    watches_custom_resource(0);
    watches_custom_resource(K8S_SD_NO_THREAD | K8S_SD_EVENTS_AS_JSON);
}

int main(int argc, char** argv) {
    static const struct test tests[] = {
        {"objects: chosen fields, labels, JSON pointers", objects},
        {"objects: a kind of a group, selected by labels", deployments},
        {"objects: a custom resource that the server lacks at first", custom_resources},
        {"a Secret: absent, present, changed", secrets},
        {"a ConfigMap: present, changed, deleted", config_maps},
        {NULL, NULL}};
    return run_tests(argc, argv, tests);
}
