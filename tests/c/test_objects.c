/* Objects of any kind, and single Secrets and ConfigMaps. */

#include "support.h"

#include <string.h>

static k8s_sd_query query_of(const struct server* server, char* yaml, size_t size) {
    k8s_sd_query query = K8S_SD_INIT(k8s_sd_query);
    snprintf(yaml, size, "api_server: %s", server->url);
    query.server = yaml;
    return query;
}

static void watches(uint64_t flags) {
    static const char* const fields[] = {"metadata.labels", "metadata.annotations", "spec",
                                         "status.podIP", NULL};
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_error* error = NULL;
    k8s_sd_event* event;
    k8s_sd_pair pair;
    char yaml[128];
    k8s_sd_query query = query_of(&server, yaml, sizeof yaml);
    apply_pod(&server, "web-0", "10.0.0.1");
    apply_pod(&server, "db", "10.0.0.2");
    query.kind = "Pod";
    query.fields = fields;
    query.field_selector = "metadata.name=web-0";
    k8s_sd_watch(context, &query, NULL, &error);
    expect_ok(error);

    event = next_event(context);
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_OBJECTS && k8s_sd_event_full(event) == 1);
    CHECK(k8s_sd_event_size(event) == 1 && k8s_sd_change_op(event, 0) == K8S_SD_ADDED);
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

    apply_pod(&server, "web-0", "10.0.0.9");
    event = next_event(context);
    CHECK(k8s_sd_event_size(event) == 1 && k8s_sd_change_op(event, 0) == K8S_SD_CHANGED);
    CHECK(is(k8s_sd_change_field(event, 0, "/status/podIP"), "10.0.0.9"));
    k8s_sd_event_free(event);
    tell(&server, "remove pods shop web-0");
    event = next_event(context);
    CHECK(k8s_sd_event_size(event) == 1 && k8s_sd_change_op(event, 0) == K8S_SD_REMOVED);
    k8s_sd_event_free(event);
    k8s_sd_free(context);
    stop_server(&server);
}

static void apply_secret(struct server* server, const char* value) {
    tell(server,
         "apply {\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"type\": \"Opaque\", \"metadata\": "
         "{\"namespace\": \"shop\", \"name\": \"db\"}, \"data\": {\"password\": \"%s\"}}",
         value);
}

static void follows(uint64_t flags) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_error* error = NULL;
    k8s_sd_event* event;
    k8s_sd_pair pair;
    char yaml[128];
    k8s_sd_query query = query_of(&server, yaml, sizeof yaml);
    query.kind = "Secret";
    query.name_space = "shop";
    query.name = "db";
    k8s_sd_follow(context, &query, NULL, &error);
    expect_ok(error);

    event = next_event(context);
    CHECK(k8s_sd_event_type_of(event) == K8S_SD_OBJECT && k8s_sd_event_full(event) == 1);
    CHECK(k8s_sd_event_size(event) == 1 && k8s_sd_change_op(event, 0) == K8S_SD_REMOVED);
    CHECK(k8s_sd_change_pairs(event, 0, K8S_SD_DATA, &pair, 1) == 0);
    CHECK(is(k8s_sd_change_key(event, 0), "shop/db"));
    k8s_sd_event_free(event);

    apply_secret(&server, "YQBi"); /* "a", a zero, "b" */
    event = next_event(context);
    CHECK(k8s_sd_change_op(event, 0) == K8S_SD_ADDED);
    CHECK(k8s_sd_change_pairs(event, 0, K8S_SD_DATA, &pair, 1) == 1);
    CHECK(is(pair.name, "password"));
    CHECK(pair.value.size == 3 && memcmp(pair.value.data, "a\0b", 3) == 0);
    CHECK(is(k8s_sd_change_field(event, 0, "/type"), "Opaque"));
    CHECK(contains(k8s_sd_event_json(event), "\"data\":{\"password\":\"YQBi\"}"));
    k8s_sd_event_free(event);

    apply_secret(&server, "Yw==");
    event = next_event(context);
    CHECK(k8s_sd_change_op(event, 0) == K8S_SD_CHANGED);
    CHECK(is(k8s_sd_change_value(event, 0, K8S_SD_DATA, "password"), "c"));
    k8s_sd_event_free(event);
    k8s_sd_free(context);
    stop_server(&server);
}

static void objects(void) {
    watches(0);
    watches(K8S_SD_NO_THREAD | K8S_SD_EVENTS_AS_JSON);
}

static void secrets(void) {
    follows(0);
    follows(K8S_SD_NO_THREAD | K8S_SD_EVENTS_AS_JSON);
}

int main(int argc, char** argv) {
    static const struct test tests[] = {
        {"objects: chosen fields, labels, JSON pointers", objects},
        {"a Secret: absent, present, changed", secrets},
        {NULL, NULL}};
    return run_tests(argc, argv, tests);
}
