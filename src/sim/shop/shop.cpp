#include "k8s_sd/sim/shop.hpp"

#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/sim/gateway_api.hpp"
#include "k8s_sd/sim/monitors.hpp"
#include "sim/shop/shop_impl.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace k8s_sd::inline v0::sim {

void Shop::Impl::create() {
    for (const char* name : {"shop", "payments", "monitoring", "kube-system"}) {
        server_.apply(shop::namespace_object(name, now()));
    }
    nodes_.push_back({"node-a1", "10.0.1.11", "eu-1a", "10.244.1.", {{"pool", "general"}}});
    nodes_.push_back({"node-a2", "10.0.1.12", "eu-1a", "10.244.2.", {{"pool", "general"}}});
    nodes_.push_back({"node-b1", "10.0.2.11", "eu-1b", "10.244.3.", {{"pool", "memory"}}});
    for (const Node& node : nodes_) server_.apply(shop::node_object(node, now()));
    add_workloads();
    for (Workload& w : workloads_) publish_all(w);
    add_ingresses();
    report_.kind = "Job";
    report_.ns = "payments";
    report_.name = "report";
    cron_job_uid_ = make_uid();
    server_.apply(shop::cron_job_object(cron_job_uid_, now()));
    add_gateway();
    add_monitors_of_shop();
}

Workload& Shop::Impl::add(std::string kind, std::string ns, std::string name, int replicas,
                          std::vector<shop::Port> ports, std::string scrape_port) {
    Workload& w = workloads_.emplace_back();
    w.kind = std::move(kind);
    w.ns = std::move(ns);
    w.name = std::move(name);
    w.uid = make_uid();
    w.created = now();
    w.replicas = replicas;
    w.ports = std::move(ports);
    w.scrape_port = std::move(scrape_port);
    w.cluster_ip = "10.96.0." + std::to_string(9 + workloads_.size());
    if (w.kind == "Deployment") add_replica_set(w);
    return w;
}

void Shop::Impl::add_workloads() {
    const shop::Port http{"http", 8080, "TCP"};
    const shop::Port metrics{"metrics", 9090, "TCP"};
    add("Deployment", "shop", "frontend", 3, {http}, "8080").service_type = "LoadBalancer";
    add("Deployment", "shop", "cart", 3, {http, metrics}, "9090");
    add("Deployment", "shop", "catalog", 2, {http, metrics}, "9090");
    add("StatefulSet", "shop", "orders-db", 3, {{"postgres", 5432, "TCP"}}, "").cluster_ip = "None";
    add("Deployment", "payments", "api", 2, {{"https", 8443, "TCP"}, metrics}, "9090");
    add("Deployment", "monitoring", "grafana", 1, {{"http", 3000, "TCP"}}, "");
    add("DaemonSet", "monitoring", "node-exporter", 3, {{"metrics", 9100, "TCP"}}, "9100")
        .host_network = true;
    add("Deployment", "kube-system", "coredns", 2,
        {{"dns", 53, "UDP"}, {"dns-tcp", 53, "TCP"}, {"metrics", 9153, "TCP"}}, "9153");
}

void Shop::Impl::publish_all(Workload& w) {
    server_.apply(service_object(w));
    for (int i = 0; i < w.replicas; ++i) {
        const std::string name = w.kind == "StatefulSet" ? w.name + "-" + std::to_string(i) : "";
        Pod& pod = *find(w, create_pod(w, name));
        pod.ip = w.host_network ? pod.node->ip : free_ip(*pod.node);
        pod.phase = "Running";
        pod.ready = true;
        publish_pod(w, pod);
    }
    publish_derived(w);
}

void Shop::Impl::add_ingresses() {
    server_.apply(shop::ingress_object(
        "shop", "storefront", "shop.example.com",
        {{"/", "frontend", "http"}, {"/cart", "cart", "http"}, {"/catalog", "catalog", "http"}},
        now()));
    server_.apply(shop::ingress_object("payments", "checkout", "pay.example.com",
                                       {{"/", "api", "https"}}, now()));
}

/// The hosts of the Ingresses, and two more.
void Shop::Impl::add_gateway() {
    const auto apply = [this](boost::json::object object) {
        object["metadata"].as_object()["creationTimestamp"] = now();
        server_.apply(std::move(object));
    };
    add_gateway_api(server_);
    apply(gateway("shop", "edge")
              .listener("http", "HTTP", 80)
              .listener("https", "HTTPS", 443, "*.example.com")
              .listener("postgres", "TLS", 5432, "*.example.com")
              .address("203.0.113.20"));
    apply(http_route("shop", "storefront")
              .parent("edge", "https")
              .hostname("shop.example.com")
              .path("/")
              .path("/cart")
              .path("/catalog"));
    apply(http_route("payments", "checkout")
              .parent("edge", "https", "shop")
              .hostname("pay.example.com")
              .path("/"));
    apply(grpc_route("payments", "api")
              .parent("edge", "https", "shop")
              .hostname("pay-api.example.com")
              .method("payments.Checkout"));
    apply(tls_route("shop", "orders-db").parent("edge").hostname("orders-db.example.com"));
}

/// Monitors of each kind of prometheus-operator, with their owner; one of them is refused, for want
/// of a Secret. The same of two kinds of VictoriaMetrics.
void Shop::Impl::add_monitors_of_shop() {
    const auto apply = [this](boost::json::object object) {
        object["metadata"].as_object()["creationTimestamp"] = now();
        server_.apply(std::move(object));
    };
    const auto add = [&](std::string_view kind, std::string_view ns, std::string_view name,
                         std::string_view spec) {
        apply(monitor(kind, ns, name, spec,
                      {{"app.kubernetes.io/name", name}, {"release", "monitoring"}}));
    };
    add_monitors(server_);
    add("Prometheus", "monitoring", "main",
        R"({"serviceMonitorSelector": {"matchLabels": {"release": "monitoring"}},
            "serviceMonitorNamespaceSelector": {}, "podMonitorSelector": {},
            "podMonitorNamespaceSelector": {}, "probeSelector": {}, "probeNamespaceSelector": {},
            "scrapeConfigSelector": {}, "scrapeConfigNamespaceSelector": {},
            "serviceDiscoveryRole": "EndpointSlice", "scrapeInterval": "15s"})");
    add("ServiceMonitor", "shop", "shop",
        R"({"selector": {"matchLabels": {"app.kubernetes.io/part-of": "shop"}},
            "endpoints": [{"port": "metrics"}]})");
    add("ServiceMonitor", "kube-system", "coredns",
        R"({"selector": {"matchLabels": {"app.kubernetes.io/name": "coredns"}},
            "jobLabel": "app.kubernetes.io/name", "endpoints": [{"port": "metrics"}]})");
    apply(secret("payments", "metrics-login").data("user", "prometheus").data("password", "shop"));
    add("ServiceMonitor", "payments", "api",
        R"({"selector": {"matchLabels": {"app.kubernetes.io/name": "api"}},
            "endpoints": [{"port": "metrics", "basicAuth": {
                "username": {"name": "metrics-login", "key": "user"},
                "password": {"name": "metrics-login", "key": "password"}}}]})");
    add("ServiceMonitor", "payments", "ledger",
        R"({"selector": {"matchLabels": {"app.kubernetes.io/name": "ledger"}},
            "endpoints": [{"port": "metrics", "authorization": {
                "credentials": {"name": "ledger-token", "key": "token"}}}]})");
    add("PodMonitor", "monitoring", "node-exporter",
        R"({"selector": {"matchLabels": {"app.kubernetes.io/name": "node-exporter"}},
            "podMetricsEndpoints": [{"port": "metrics"}]})");
    add("Probe", "shop", "storefront",
        R"({"prober": {"url": "prober.monitoring.svc:9115", "path": "/probe"}, "module": "http_2xx",
            "targets": {"ingress": {"selector": {
                "matchLabels": {"app.kubernetes.io/part-of": "shop"}}}}})");
    add("ScrapeConfig", "monitoring", "warehouse",
        R"({"staticConfigs": [{"targets": ["warehouse.example.com:9100"],
                               "labels": {"site": "eu-1"}}]})");
    add_vm_monitors(server_);
    add("VMAgent", "monitoring", "main", R"({"selectAllByDefault": true})");
    add("VMServiceScrape", "shop", "shop",
        R"({"discoveryRole": "endpointslice",
            "selector": {"matchLabels": {"app.kubernetes.io/part-of": "shop"}},
            "endpoints": [{"port": "metrics"}]})");
    add("VMPodScrape", "monitoring", "node-exporter",
        R"({"selector": {"matchLabels": {"app.kubernetes.io/name": "node-exporter"}},
            "podMetricsEndpoints": [{"port": "metrics"}]})");
}

// ---- Helpers -----------------------------------------------------------------------------------

Workload& Shop::Impl::pick_deployment() {
    for (;;) {
        Workload& w = pick_workload();
        if (w.kind == "Deployment") return w;
    }
}

Pod* Shop::Impl::pick_ready_pod(Workload& w) {
    Pod& pod = w.pods[pick(w.pods.size())];
    return pod.ready && !pod.terminating() ? &pod : nullptr;
}

Pod* Shop::Impl::find(Workload& w, const std::string& uid) {
    const auto found = std::find_if(w.pods.begin(), w.pods.end(),
                                    [&uid](const Pod& pod) { return pod.uid == uid; });
    return found == w.pods.end() ? nullptr : &*found;
}

/// The letters and digits used by Kubernetes: they cannot spell words.
std::string Shop::Impl::suffix(std::size_t length) {
    constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
    std::string text;
    while (text.size() < length) text += alphabet[pick(alphabet.size())];
    return text;
}

std::string Shop::Impl::make_uid() {
    const std::uint64_t high = random_();
    const std::uint64_t low = random_();
    std::array<char, 37> text{};
    std::snprintf(text.data(), text.size(), "%08x-%04x-4%03x-a%03x-%012llx",
                  static_cast<unsigned>(high >> 32U), static_cast<unsigned>(high >> 16U & 0xffffU),
                  static_cast<unsigned>(high & 0xfffU), static_cast<unsigned>(low >> 52U),
                  static_cast<unsigned long long>(low & 0xffff'ffff'ffffULL));
    return text.data();
}

std::string Shop::Impl::now() const {
    const auto time = options_.now ? options_.now() : std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

std::string Shop::Impl::free_ip(const Node& node) {
    const auto in_use = [](const Workload& w, const std::string& ip) {
        return std::any_of(w.pods.begin(), w.pods.end(),
                           [&ip](const Pod& pod) { return pod.ip == ip; });
    };
    for (;;) {
        std::string ip = node.pod_subnet + std::to_string(next_host_);
        next_host_ = next_host_ == 250 ? 10 : next_host_ + 1;
        if (in_use(report_, ip)) continue;
        if (std::none_of(workloads_.begin(), workloads_.end(),
                         [&](const Workload& w) { return in_use(w, ip); })) {
            return ip;
        }
    }
}

void Shop::Impl::add_replica_set(Workload& w) {
    const std::string hash = suffix(9);
    w.replica_sets.push_back({w.name + "-" + hash, hash, make_uid(), now(), w.version});
}

std::string Shop::Impl::named(const Workload& w) {
    return detail::lower_case(w.kind) + " " + w.full_name();
}

std::string Shop::Impl::named(const Workload& w, const Pod& pod) {
    return "pod " + w.ns + "/" + pod.name;
}

// ---- Shop --------------------------------------------------------------------------------------

Shop::Shop(ApiServer& server, ShopOptions options)
    : impl_(std::make_unique<Impl>(server, std::move(options))) {}
Shop::~Shop() = default;
Shop::Shop(Shop&&) noexcept = default;
Shop& Shop::operator=(Shop&&) noexcept = default;

std::string Shop::step() { return impl_->step(); }

}  // namespace k8s_sd::inline v0::sim
