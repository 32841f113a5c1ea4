/* Snippets of docs/guide/c-interface.md. */

#include <k8s_sd_c.h>
#include <stdio.h>

void read_changes(k8s_sd_event* event);
void read_changes(k8s_sd_event* event) {
    //[changes
    k8s_sd_pair labels[64];
    size_t i, count;
    for (i = 0; i < k8s_sd_event_size(event); ++i) {
        k8s_sd_string source = k8s_sd_change_key(event, i);   /* "pod/shop/web-0" */
        int op = k8s_sd_change_op(event, i);                  /* K8S_SD_ADDED, … */
        count = k8s_sd_change_pairs(event, i, 0, labels, 64); /* labels of the first target */
        printf("%.*s: op %d, %zu labels\n", (int)source.size, source.data, op, count);
    }
    k8s_sd_event_free(event);
    //]
}
