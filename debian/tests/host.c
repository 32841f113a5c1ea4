/* Prints the first complete state of the pods of a server as JSON. Usage: host URL */
#include <k8s_sd_c.h>
#include <stdio.h>

static int fail(k8s_sd_error* error) {
    fprintf(stderr, "%s: %s\n", k8s_sd_code_name(k8s_sd_error_code(error)),
            k8s_sd_error_text(error));
    k8s_sd_error_free(error);
    return 1;
}

int main(int argc, char** argv) {
    char yaml[256];
    k8s_sd_error* error = NULL;
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    int complete = 0;
    if (argc != 2) return 2;
    snprintf(yaml, sizeof yaml, "role: pod\napi_server: %s\n", argv[1]);
    config.yaml = yaml;
    k8s_sd_context* context = k8s_sd_open(NULL, &error);
    if (context == NULL) return fail(error);
    if (k8s_sd_discover(context, &config, NULL, &error) != K8S_SD_OK) return fail(error);
    while (!complete && k8s_sd_poll(context, 120000, &error) == 1) {
        k8s_sd_event* event = k8s_sd_next(context);
        if (k8s_sd_event_type_of(event) == K8S_SD_GROUPS && k8s_sd_event_full(event)) {
            const k8s_sd_string text = k8s_sd_event_json(event);
            printf("%.*s\n", (int)text.size, text.data);
            complete = 1;
        }
        k8s_sd_event_free(event);
    }
    k8s_sd_free(context);
    if (error != NULL) return fail(error);
    return complete ? 0 : 1;
}
