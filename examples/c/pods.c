/* Prints the pods of a cluster and every change.  Usage: pods [URL] */
#include <k8s_sd_c.h>
#include <poll.h>
#include <stdio.h>
int main(int argc, char** argv) {
    k8s_sd_options options = K8S_SD_INIT(k8s_sd_options);
    k8s_sd_config config = K8S_SD_INIT(k8s_sd_config);
    k8s_sd_error* error = NULL;
    char yaml[512] = "role: pod";
    if (argc > 1) snprintf(yaml, sizeof yaml, "{role: pod, api_server: %s}", argv[1]);
    config.yaml = yaml;
    options.flags = K8S_SD_FIND_SERVER; /* $KUBECONFIG, the pod's own cluster, ~/.kube/config */
    k8s_sd_context* context = k8s_sd_open(&options, &error);
    if (context) k8s_sd_discover(context, &config, NULL, &error);
    struct pollfd waiting = {k8s_sd_fd(context), POLLIN, 0};
    while (!error && poll(&waiting, 1, -1) >= 0) {
        k8s_sd_event* event = k8s_sd_next(context); /* NULL: there is none yet */
        for (size_t i = 0; i < k8s_sd_event_size(event); ++i) {
            k8s_sd_string source = k8s_sd_change_key(event, i);
            k8s_sd_string address = k8s_sd_change_value(event, i, 0, "__address__");
            printf("%.*s %.*s\n", (int)source.size, source.data,
                   address.data ? (int)address.size : 7, address.data ? address.data : "removed");
        }
        fflush(stdout);
        k8s_sd_event_free(event);
    }
    fprintf(stderr, "%s\n", k8s_sd_error_text(error));
    k8s_sd_error_free(error);
    k8s_sd_free(context);
    return 1;
}
