/* Hostile arguments: NULL, wrong sizes, unknown values, calls after close. */

#define _POSIX_C_SOURCE 200809L

#include "support.h"

#include <poll.h>
#include <stddef.h>
#include <string.h>

static void null_everywhere(void) {
    k8s_sd_error* error = NULL;
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_pair pair;
    CHECK(k8s_sd_error_code(NULL) == K8S_SD_OK && !*k8s_sd_error_text(NULL));
    k8s_sd_error_free(NULL);
    k8s_sd_free(NULL);
    k8s_sd_close(NULL);
    k8s_sd_text_free(NULL);
    k8s_sd_event_free(NULL);
    CHECK(!k8s_sd_next(NULL) && k8s_sd_fd(NULL) == -1);
    CHECK(k8s_sd_poll(NULL, 0, NULL) == K8S_SD_INVALID_ARGUMENT);
    CHECK(k8s_sd_discover(NULL, &config, NULL, &error) == K8S_SD_INVALID_ARGUMENT);
    expect_error(&error, K8S_SD_INVALID_ARGUMENT);
    CHECK(k8s_sd_cancel(NULL, 1, NULL) == K8S_SD_INVALID_ARGUMENT);
    CHECK(!k8s_sd_status_json(NULL, NULL) && !k8s_sd_metrics_text(NULL, NULL));
    CHECK(k8s_sd_event_type_of(NULL) == 0 && k8s_sd_event_watch(NULL) == 0);
    CHECK(!k8s_sd_event_user(NULL) && !k8s_sd_event_full(NULL) && !k8s_sd_event_synced(NULL));
    CHECK(k8s_sd_event_more(NULL) == 0);
    CHECK(!k8s_sd_event_message(NULL).data && !k8s_sd_event_json(NULL).data);
    CHECK(!k8s_sd_event_job(NULL).data && k8s_sd_event_size(NULL) == 0);
    CHECK(k8s_sd_change_op(NULL, 0) == 0 && !k8s_sd_change_key(NULL, 0).data);
    CHECK(k8s_sd_change_targets(NULL, 0) == 0 && !k8s_sd_change_url(NULL, 0).data);
    CHECK(k8s_sd_change_pairs(NULL, 0, K8S_SD_LABELS, &pair, 1) == 0);
    CHECK(!k8s_sd_change_value(NULL, 0, 0, "a").data && !k8s_sd_change_field(NULL, 0, "/a").data);
    CHECK(k8s_sd_change_interval_ms(NULL, 0) == 0 && k8s_sd_change_timeout_ms(NULL, 0) == 0);
}

static void expect_no_context(const k8s_sd_options* options) {
    k8s_sd_error* error = NULL;
    CHECK(!k8s_sd_open(options, &error));
    expect_error(&error, K8S_SD_INVALID_ARGUMENT);
    CHECK(!k8s_sd_open(options, NULL));
}

static void sizes(void) {
    struct {
        k8s_sd_options options;
        char later[64];
    } longer;
    k8s_sd_context* context;
    memset(&longer, 0, sizeof longer);
    expect_no_context(&longer.options);
    longer.options.struct_size = sizeof(k8s_sd_options) - 1;
    expect_no_context(&longer.options);
    longer.options.struct_size = (size_t)-1;
    expect_no_context(&longer.options);
    longer.options.struct_size = sizeof longer;
    longer.later[63] = 1; /* a member this version does not have */
    expect_no_context(&longer.options);
    longer.later[63] = 0;
    context = k8s_sd_open(&longer.options, NULL);
    CHECK(context);
    k8s_sd_free(context);
    longer.options.flags = (uint64_t)1 << 63;
    expect_no_context(&longer.options);
    longer.options.flags = 0;
    longer.options.log_level = 77;
    expect_no_context(&longer.options);
}

/* The error has the code and, in its text, these words. */
static void expect_refusal(k8s_sd_error* error, k8s_sd_code code, const char* text) {
    if (!strstr(k8s_sd_error_text(error), text)) fprintf(stderr, "%s\n", k8s_sd_error_text(error));
    CHECK(strstr(k8s_sd_error_text(error), text));
    expect_error(&error, code);
}

static void refuse_config(k8s_sd_context* context, const k8s_sd_config* config, k8s_sd_code code,
                          const char* text) {
    k8s_sd_error* error = NULL;
    k8s_sd_id id = 0;
    CHECK(k8s_sd_discover(context, config, &id, &error) == code && id == 0);
    expect_refusal(error, code, text);
}

static void refuse_query(k8s_sd_context* context, const k8s_sd_query* query, k8s_sd_code code,
                         const char* text) {
    k8s_sd_error* error = NULL;
    CHECK(k8s_sd_follow(context, query, NULL, &error) == code);
    expect_refusal(error, code, text);
}

/* Sizes of k8s_sd_config and k8s_sd_query; sizes() has those of k8s_sd_options. */
static void sizes_of_arguments(void) {
    struct {
        k8s_sd_config config;
        char later[64];
    } config;
    struct {
        k8s_sd_query query;
        char later[64];
    } query;
    const size_t wrong_configs[] = {0, sizeof(size_t), sizeof(k8s_sd_config) - 1, (size_t)-1};
    const size_t wrong_queries[] = {0, sizeof(size_t), sizeof(k8s_sd_query) - 1, (size_t)-1};
    k8s_sd_context* context = open_context(0);
    k8s_sd_error* error = NULL;
    k8s_sd_id id = 0;
    size_t i;
    memset(&config, 0, sizeof config);
    config.config.yaml = "{role: pod, api_server: 'http://127.0.0.1:1'}";
    for (i = 0; i < sizeof wrong_configs / sizeof *wrong_configs; ++i) {
        config.config.struct_size = wrong_configs[i];
        refuse_config(context, &config.config, K8S_SD_INVALID_ARGUMENT, "config: struct_size");
    }
    CHECK(k8s_sd_scrape(context, &config.config, NULL, NULL) == K8S_SD_INVALID_ARGUMENT);
    config.config.struct_size = sizeof config;
    config.later[63] = 1;
    refuse_config(context, &config.config, K8S_SD_INVALID_ARGUMENT, "config: has members unknown");
    config.later[63] = 0;
    k8s_sd_discover(context, &config.config, &id, &error);
    expect_ok(error);
    CHECK(id > 0);

    memset(&query, 0, sizeof query);
    query.query.server = "api_server: http://127.0.0.1:1";
    query.query.kind = "Secret";
    query.query.name_space = "shop";
    query.query.name = "db";
    for (i = 0; i < sizeof wrong_queries / sizeof *wrong_queries; ++i) {
        query.query.struct_size = wrong_queries[i];
        refuse_query(context, &query.query, K8S_SD_INVALID_ARGUMENT, "query: struct_size");
    }
    CHECK(k8s_sd_watch(context, &query.query, NULL, NULL) == K8S_SD_INVALID_ARGUMENT);
    query.query.struct_size = sizeof query;
    query.later[63] = 1;
    refuse_query(context, &query.query, K8S_SD_INVALID_ARGUMENT, "query: has members unknown");
    query.later[63] = 0;
    query.query.reserved = 1;
    refuse_query(context, &query.query, K8S_SD_INVALID_ARGUMENT, "reserved");
    query.query.reserved = 0;
    k8s_sd_follow(context, &query.query, NULL, &error);
    expect_ok(error);
    k8s_sd_free(context);
}

static void configurations(void) {
    k8s_sd_context* context = open_context(0);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_query query = K8S_SD_INIT(k8s_sd_query);
    k8s_sd_error* error = NULL;
    k8s_sd_id id = 0;
    refuse_config(context, NULL, K8S_SD_INVALID_ARGUMENT, "config");
    refuse_config(context, &config, K8S_SD_INVALID_ARGUMENT, "yaml");
    config.yaml = "role: pod\nfield: a";
    refuse_config(context, &config, K8S_SD_INVALID_CONFIG, "<yaml>:2: field");
    config.file_name = "a.yml";
    config.yaml = "role: pods";
    refuse_config(context, &config, K8S_SD_INVALID_CONFIG, "a.yml:1: role");
    config.yaml = "\xff\xfe{{{{";
    refuse_config(context, &config, K8S_SD_INVALID_CONFIG, "a.yml");
    config.yaml = "{role: pod, api_server: 'http://127.0.0.1:1'}";
    config.dialect = 9;
    refuse_config(context, &config, K8S_SD_INVALID_ARGUMENT, "dialect");
    config.dialect = K8S_SD_PROMETHEUS;
    config.prometheus_version = "1.0";
    refuse_config(context, &config, K8S_SD_INVALID_CONFIG, "prometheus_version");
    config.prometheus_version = "3.14";
    config.reserved = 1;
    refuse_config(context, &config, K8S_SD_INVALID_ARGUMENT, "reserved");
    config.reserved = 0;
    CHECK(k8s_sd_discover(context, &config, &id, &error) == K8S_SD_OK && id > 0);
    CHECK(k8s_sd_reload(context, id, &config, NULL) == K8S_SD_INVALID_ARGUMENT);
    CHECK(k8s_sd_reload(context, 99, &config, NULL) == K8S_SD_NOT_FOUND);

    refuse_query(context, NULL, K8S_SD_INVALID_ARGUMENT, "query");
    refuse_query(context, &query, K8S_SD_INVALID_ARGUMENT, "kind");
    query.kind = "Pod";
    refuse_query(context, &query, K8S_SD_INVALID_ARGUMENT, "Secret");
    query.kind = "Secret";
    query.server = "api_server: http://127.0.0.1:1\nnonsense: 1";
    refuse_query(context, &query, K8S_SD_INVALID_CONFIG, "server:2: nonsense");
    query.server = "api_server: http://127.0.0.1:1";
    refuse_query(context, &query, K8S_SD_INVALID_ARGUMENT, "name_space");
    query.name_space = "shop";
    refuse_query(context, &query, K8S_SD_INVALID_ARGUMENT, "name");
    query.name = "../../etc";
    refuse_query(context, &query, K8S_SD_INVALID_CONFIG, "../../etc");
    query.name = "db";
    CHECK(k8s_sd_follow(context, &query, NULL, &error) == K8S_SD_OK);
    CHECK(k8s_sd_watch(context, &query, NULL, &error) == K8S_SD_INVALID_ARGUMENT);
    expect_error(&error, K8S_SD_INVALID_ARGUMENT);
    k8s_sd_free(context);
}

/* An index beyond the end, and a set of another type of event. */
static void wrong_accessors(void) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(0);
    k8s_sd_event* event;
    apply_pod(&server, "web-0", "10.0.0.1");
    discover_pods(context, &server, "");
    event = next_event(context);
    CHECK(k8s_sd_change_op(event, 1) == 0 && !k8s_sd_change_key(event, (size_t)-1).data);
    CHECK(k8s_sd_change_pairs(event, 0, 1, NULL, 9) == 0);
    CHECK(k8s_sd_change_pairs(event, 0, -99, NULL, 9) == 0);
    CHECK(k8s_sd_change_pairs(event, 0, INT64_MAX, NULL, 9) == 0);
    CHECK(k8s_sd_change_pairs(event, 0, INT64_MIN, NULL, 9) == 0);
    CHECK(k8s_sd_change_pairs(event, 0, 0, NULL, 9) > 0); /* counts */
    CHECK(!k8s_sd_change_value(event, 0, 0, NULL).data);
    CHECK(!k8s_sd_change_field(event, 0, "/metadata/name").data);
    CHECK(!k8s_sd_change_field(event, 0, NULL).data);
    CHECK(k8s_sd_change_interval_ms(event, 0) == 0);
    CHECK(is(k8s_sd_event_job(event), ""));
    k8s_sd_event_free(event);
    k8s_sd_free(context);
    stop_server(&server);
}

static void after_close(uint64_t flags) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(flags);
    k8s_sd_error* error = NULL;
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    config.yaml = "role: pod";
    discover_pods(context, &server, "");
    k8s_sd_close(context);
    k8s_sd_close(context);
    CHECK(!k8s_sd_next(context));
    CHECK(k8s_sd_poll(context, -1, &error) == K8S_SD_CLOSED);
    expect_error(&error, K8S_SD_CLOSED);
    CHECK(k8s_sd_discover(context, &config, NULL, NULL) == K8S_SD_CLOSED);
    CHECK(k8s_sd_cancel(context, 1, NULL) == K8S_SD_CLOSED);
    CHECK(!k8s_sd_status_json(context, &error));
    expect_error(&error, K8S_SD_CLOSED);
    k8s_sd_free(context);
    stop_server(&server);
}

static void closed(void) {
    after_close(0);
    after_close(K8S_SD_NO_THREAD);
}

static int readable(const k8s_sd_context* context) {
    struct pollfd waiting;
    waiting.fd = k8s_sd_fd(context);
    waiting.events = POLLIN;
    return poll(&waiting, 1, 0);
}

/* The descriptor is readable while there is an event, and after closing. */
static void descriptor(void) {
    struct server server = start_server();
    k8s_sd_context* context = open_context(0);
    CHECK(readable(context) == 0);
    discover_pods(context, &server, "");
    CHECK(k8s_sd_poll(context, -1, NULL) == 1 && readable(context) == 1);
    while (readable(context)) k8s_sd_event_free(k8s_sd_next(context)); /* a few, the last one too */
    k8s_sd_close(context);
    CHECK(readable(context) == 1);
    k8s_sd_free(context);
    stop_server(&server);
}

/* The ABI of 64-bit machines: a struct grows at its end only. */
static void layouts(void) {
#if UINTPTR_MAX == UINT64_MAX
    CHECK(sizeof(k8s_sd_string) == 16 && sizeof(k8s_sd_pair) == 32);
    CHECK(sizeof(k8s_sd_options) >= 40 && offsetof(k8s_sd_options, log) == 16);
    CHECK(offsetof(k8s_sd_options, log_level) == 32);
    CHECK(sizeof(k8s_sd_config) >= 48 && offsetof(k8s_sd_config, user) == 32);
    CHECK(offsetof(k8s_sd_config, min_interval_ms) == 44);
    CHECK(offsetof(k8s_sd_config, max_changes) == 48);
    CHECK(sizeof(k8s_sd_query) >= 88 && offsetof(k8s_sd_query, name) == 40);
    CHECK(offsetof(k8s_sd_query, fields) == 64 && offsetof(k8s_sd_query, min_interval_ms) == 80);
#endif
}

static void versions(void) {
    CHECK(k8s_sd_abi_version() == K8S_SD_ABI_VERSION);
    CHECK(k8s_sd_version()[0] >= '0' && k8s_sd_version()[0] <= '9');
    CHECK(strcmp(k8s_sd_code_name(K8S_SD_CLOSED), "K8S_SD_CLOSED") == 0);
    CHECK(strcmp(k8s_sd_code_name(1234), "K8S_SD_UNKNOWN") == 0);
}

int main(int argc, char** argv) {
    static const struct test tests[] = {{"arguments: NULL", null_everywhere},
                                        {"arguments: sizes of structs, flags", sizes},
                                        {"arguments: sizes of configurations and queries",
                                         sizes_of_arguments},
                                        {"arguments: configurations", configurations},
                                        {"arguments: accessors", wrong_accessors},
                                        {"close: later calls are refused", closed},
                                        {"fd: readable while there is an event", descriptor},
                                        {"versions", versions},
                                        {"versions: layouts of structs", layouts},
                                        {NULL, NULL}};
    return run_tests(argc, argv, tests);
}
