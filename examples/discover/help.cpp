#include "options.hpp"

namespace discover {

std::string_view help_text() noexcept {
    return R"(Usage: discover [OPTION]...
Watches a Kubernetes cluster and prints its scrape targets and how they change.

Try it without a cluster:  discover --sim

Server; without any of these: $KUBECONFIG, the pod's service account, ~/.kube/config
  --sim                      start a simulated cluster in this process and discover it
  --api-server URL           http or https, a path prefix is kept
  --token-file FILE          bearer token, read again when it changes
  --ca-file FILE             certificates to trust (PEM) instead of the system's
  --tls-server-name NAME     name to expect in the server's certificate
  --insecure-skip-tls-verify trust any certificate
  --kubeconfig FILE          a kubeconfig
  --context NAME             context of the kubeconfig; default: its current one

What to discover
  --sd-config FILE           one kubernetes_sd_configs entry in YAML, as Prometheus or vmagent
                             take it; the options below add to it
  --role ROLE                node, pod (default), service, endpoints, endpointslice or ingress
  --namespace NAME           only this namespace; repeatable
  --own-namespace            only the namespace this program's pod runs in
  --selector ROLE:label:SEL  only objects with these labels, e.g. pod:label:app=web; repeatable
  --selector ROLE:field:SEL  only objects with these fields,
                             e.g. pod:field:spec.nodeName=node-1; repeatable
  --attach KIND[,KIND]...    add labels of node, namespace, deployment, job, cronjob
  --dialect DIALECT          labels as of prometheus (default) or victoriametrics

Run
  --jobs N                   N discoverers with this configuration (default 1)
  --once                     end once the first complete state was printed
  --timeout SECONDS          end after this time; status 3 if the state is not complete by then
  --output FORMAT            text (default): for people
                             json: one object a line for each change
                             targets: with --once, one array of all targets' labels
                             quiet: counts only
  --log-level LEVEL          off, error, warning (default), info or debug; to standard error
  --help, --version

Exit status: 0 fine, 2 unusable arguments or configuration, 3 not synced in time,
1 anything else. SIGINT and SIGTERM end it with 0.
)";
}

}  // namespace discover
