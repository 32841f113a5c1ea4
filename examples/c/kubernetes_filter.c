/* Plays the Kubernetes filter of fluent-bit: adds the metadata of its pod to each record of a
 * container log. Reads lines "FILE MESSAGE", where FILE is POD_NAMESPACE_CONTAINER-ID.log as below
 * /var/log/containers, and writes JSON lines.
 *
 * Usage: kubernetes_filter URL [NODE]      records from standard input
 *        kubernetes_filter URL --rate N    N records of the pods there are; prints the rate
 */

#define _POSIX_C_SOURCE 200809L

#include <k8s_sd_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the metadata of pods, as JSON, by "namespace/pod" */

struct pod {
    char* key;
    char* json;
};

static struct {
    struct pod* slots; /* open addressing; a removed pod keeps its key, without JSON */
    size_t capacity;   /* a power of two */
    size_t used;
} table;

static struct pod* slot_of(const char* key, size_t size) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    size_t i;
    for (i = 0; i < size; ++i) hash = (hash ^ (unsigned char)key[i]) * 1099511628211u;
    for (i = hash & (table.capacity - 1);; i = (i + 1) & (table.capacity - 1)) {
        struct pod* pod = &table.slots[i];
        if (!pod->key || (strlen(pod->key) == size && memcmp(pod->key, key, size) == 0)) {
            return pod;
        }
    }
}

static void grow(void) {
    struct pod* const slots = table.slots;
    const size_t capacity = table.capacity;
    size_t i;
    table.capacity = capacity ? 2 * capacity : 1024;
    table.slots = calloc(table.capacity, sizeof *table.slots);
    table.used = 0;
    for (i = 0; i < capacity; ++i) {
        if (slots[i].json) {
            *slot_of(slots[i].key, strlen(slots[i].key)) = slots[i];
            ++table.used;
        } else {
            free(slots[i].key);
        }
    }
    free(slots);
}

/* Replaces the metadata of a pod; NULL removes them. */
static void put(k8s_sd_string key, char* json) {
    struct pod* pod;
    if (2 * (table.used + 1) > table.capacity) grow();
    pod = slot_of(key.data, key.size);
    if (!pod->key) {
        pod->key = strndup(key.data, key.size);
        ++table.used;
    }
    free(pod->json);
    pod->json = json;
}

/* ---- events */

static void write_text(FILE* out, k8s_sd_string text) {
    size_t i;
    fputc('"', out);
    for (i = 0; i < text.size; ++i) {
        const unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c < 0x20) {
            fprintf(out, "\\u%04x", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

static void write_field(FILE* out, const char* name, k8s_sd_string text) {
    if (!text.data) return;
    fprintf(out, "\"%s\":", name);
    write_text(out, text);
    fputc(',', out);
}

static void write_pairs(FILE* out, const char* name, const k8s_sd_event* event, size_t change,
                        int64_t set) {
    k8s_sd_pair pairs[256];
    size_t count = k8s_sd_change_pairs(event, change, set, pairs, 256), i;
    if (count > 256) count = 256;
    fprintf(out, "\"%s\":{", name);
    for (i = 0; i < count; ++i) {
        if (i > 0) fputc(',', out);
        write_text(out, pairs[i].name);
        fputc(':', out);
        write_text(out, pairs[i].value);
    }
    fputc('}', out);
}

static char* metadata_of(k8s_sd_event* event, size_t change) {
    char* json = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&json, &size);
    write_field(out, "pod_name", k8s_sd_change_field(event, change, "/metadata/name"));
    write_field(out, "namespace_name", k8s_sd_change_field(event, change, "/metadata/namespace"));
    write_field(out, "pod_id", k8s_sd_change_field(event, change, "/metadata/uid"));
    write_field(out, "host", k8s_sd_change_field(event, change, "/spec/nodeName"));
    write_pairs(out, "labels", event, change, K8S_SD_LABELS);
    fputc(',', out);
    write_pairs(out, "annotations", event, change, K8S_SD_ANNOTATIONS);
    fclose(out);
    return json;
}

/* Applies the events there are. */
static void apply_events(k8s_sd_context* context) {
    k8s_sd_event* event;
    while ((event = k8s_sd_next(context))) {
        size_t i;
        for (i = 0; i < k8s_sd_event_size(event); ++i) {
            const int removed = k8s_sd_change_op(event, i) == K8S_SD_REMOVED;
            put(k8s_sd_change_key(event, i), removed ? NULL : metadata_of(event, i));
        }
        k8s_sd_event_free(event);
    }
}

/* ---- records */

/* Writes the record with the metadata of its pod. */
static void filter(const char* file, const char* message, FILE* out) {
    char key[512];
    const char* const ns = strchr(file, '_');
    const char* const container = ns ? strchr(ns + 1, '_') : NULL;
    const char* const id = container ? strrchr(container, '-') : NULL;
    const k8s_sd_string log = {message, strlen(message)};
    fputs("{\"log\":", out);
    write_text(out, log);
    if (id) {
        const int size = snprintf(key, sizeof key, "%.*s/%.*s", (int)(container - ns - 1), ns + 1,
                                  (int)(ns - file), file);
        const struct pod* pod = slot_of(key, (size_t)size < sizeof key ? (size_t)size : 0);
        if (pod->json) {
            fprintf(out, ",\"kubernetes\":{%s,\"container_name\":\"%.*s\"}", pod->json,
                    (int)(id - container - 1), container + 1);
        }
    }
    fputs("}\n", out);
}

static void filter_input(k8s_sd_context* context) {
    char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        char* const message = strchr(line, ' ');
        line[strcspn(line, "\n")] = 0;
        if (!message) continue;
        *message = 0;
        apply_events(context);
        filter(line, message + 1, stdout);
        fflush(stdout);
    }
}

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static int measure(k8s_sd_context* context, unsigned long records) {
    FILE* const out = fopen("/dev/null", "w");
    const double began = processor_seconds();
    double seconds;
    unsigned long done = 0;
    size_t at = 0;
    size_t unknown = 0;
    while (done < records && unknown <= table.capacity) {
        const struct pod* const pod = &table.slots[at++ & (table.capacity - 1)];
        const char* const slash = pod->json ? strchr(pod->key, '/') : NULL;
        char file[512];
        ++unknown; /* ends if no pod is left */
        if (!slash) continue;
        unknown = 0;
        snprintf(file, sizeof file, "%s_%.*s_web-0123456789abcdef.log", slash + 1,
                 (int)(slash - pod->key), pod->key);
        apply_events(context);
        filter(file, "GET /index.html HTTP/1.1 200 0.002", out);
        ++done;
    }
    seconds = processor_seconds() - began;
    fclose(out);
    printf("%lu records, %lu pods, %.0f records a second of CPU\n", done,
           (unsigned long)table.used, (double)done / seconds);
    return done > 0 ? 0 : 1;
}

int main(int argc, char** argv) {
    static const char* const fields[] = {"metadata.labels", "metadata.annotations",
                                         "spec.nodeName", NULL};
    k8s_sd_query query = K8S_SD_INIT(k8s_sd_query);
    k8s_sd_error* error = NULL;
    k8s_sd_context* context = k8s_sd_open(NULL, &error);
    char server[512], selector[512];
    const int measures = argc == 4 && strcmp(argv[2], "--rate") == 0;
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: kubernetes_filter URL [NODE | --rate N]\n");
        return 2;
    }
    snprintf(server, sizeof server, "api_server: %s", argv[1]);
    query.server = server;
    query.kind = "Pod";
    query.fields = fields;
    if (argc == 3) {
        snprintf(selector, sizeof selector, "spec.nodeName=%s", argv[2]);
        query.field_selector = selector;
    }
    if (!context || k8s_sd_watch(context, &query, NULL, &error) != K8S_SD_OK) {
        fprintf(stderr, "kubernetes_filter: %s\n", k8s_sd_error_text(error));
        return 2;
    }
    grow();
    /* The complete state first: a record without metadata cannot be mended later. */
    for (;;) {
        k8s_sd_event* event;
        if (k8s_sd_poll(context, -1, &error) < 0) return 1;
        event = k8s_sd_next(context);
        if (k8s_sd_event_full(event)) {
            size_t i;
            for (i = 0; i < k8s_sd_event_size(event); ++i) {
                put(k8s_sd_change_key(event, i), metadata_of(event, i));
            }
            k8s_sd_event_free(event);
            break;
        }
        k8s_sd_event_free(event);
    }
    if (measures) {
        const int status = measure(context, strtoul(argv[3], NULL, 10));
        k8s_sd_free(context);
        return status;
    }
    filter_input(context);
    k8s_sd_free(context);
    return 0;
}
