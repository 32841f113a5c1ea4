#include "sim/shop/shop_impl.hpp"

#include <algorithm>
#include <array>

namespace k8s_sd::inline v0::sim {

std::string Shop::Impl::step() {
    for (;;) {
        if (pending_.empty()) return begin_change();
        const Action action = std::move(pending_.front());
        pending_.pop_front();
        // A step for a pod deleted meanwhile has no text.
        if (std::string text = action(); !text.empty()) return text;
    }
}

std::string Shop::Impl::begin_change() {
    using RandomChange = std::string (Impl::*)();
    // Frequent changes have several entries.
    constexpr std::array<RandomChange, 11> changes{
        &Impl::scale,          &Impl::scale,        &Impl::scale,          &Impl::roll_out,
        &Impl::lose_readiness, &Impl::crash,        &Impl::crash,          &Impl::relabel_pod,
        &Impl::run_job,        &Impl::relabel_node, &Impl::toggle_scraping};
    for (;;) {
        const RandomChange change = changes[pick(changes.size())];
        if (std::string text = (this->*change)(); !text.empty()) return text;
    }
}

std::string Shop::Impl::scale() {
    Workload& w = pick_deployment();
    const bool up = w.replicas == 1 || (w.replicas < 6 && pick(2) == 0);
    const int before = w.replicas;
    w.replicas += up ? 1 : -1;
    server_.apply(workload_object(w));
    if (up) {
        pending_.emplace_back([this, &w] {
            const std::string uid = create_pod(w, {});
            then_start(w, uid);
            return named(w, *find(w, uid)) + " created on " + find(w, uid)->node->name;
        });
    } else {
        then_end(w, w.pods.back().uid);
    }
    return named(w) + " scaled from " + std::to_string(before) + " to " +
           std::to_string(w.replicas);
}

std::string Shop::Impl::roll_out() {
    Workload& w = pick_deployment();
    ++w.version;
    std::vector<std::string> old;
    for (const Pod& pod : w.pods) old.push_back(pod.uid);
    add_replica_set(w);
    publish_derived(w);
    for (const std::string& uid : old) then_replace(w, uid);
    pending_.emplace_back([this, &w]() -> std::string {
        const std::string name = w.replica_sets.front().name;
        server_.remove("replicasets", w.ns, name);
        w.replica_sets.erase(w.replica_sets.begin());
        return named(w) + " is rolled out; replicaset " + w.ns + "/" + name + " is gone";
    });
    return named(w) + " rolls out v" + std::to_string(w.version);
}

std::string Shop::Impl::lose_readiness() {
    Workload& w = pick_workload();
    Pod* const pod = pick_ready_pod(w);
    if (!pod) return {};
    pod->ready = false;
    publish_pod(w, *pod);
    publish_derived(w);
    pending_.emplace_back([this, &w, uid = pod->uid]() -> std::string {
        Pod* const again = find(w, uid);
        if (!again) return {};
        again->ready = true;
        publish_pod(w, *again);
        publish_derived(w);
        return named(w, *again) + " is ready again";
    });
    return named(w, *pod) + " fails its readiness probe";
}

std::string Shop::Impl::crash() {
    Workload& w = pick_workload();
    Pod* const pod = pick_ready_pod(w);
    if (!pod) return {};
    pod->ready = false;
    pod->waiting_reason = "CrashLoopBackOff";
    ++pod->restarts;
    publish_pod(w, *pod);
    publish_derived(w);
    then_replace(w, pod->uid);
    return named(w, *pod) + " crashes";
}

std::string Shop::Impl::relabel_pod() {
    Workload& w = pick_deployment();
    Pod* const pod = pick_ready_pod(w);
    if (!pod) return {};
    std::string text;
    if (pod->labels.erase("track") != 0) {
        text = named(w, *pod) + " loses label track=canary";
    } else {
        pod->labels["track"] = "canary";
        text = named(w, *pod) + " gets label track=canary";
    }
    publish_pod(w, *pod);
    return text;
}

std::string Shop::Impl::toggle_scraping() {
    Workload& w = pick_deployment();
    Pod* const pod = pick_ready_pod(w);
    if (!pod || w.scrape_port.empty()) return {};
    std::string& scrape = pod->annotations["prometheus.io/scrape"];
    scrape = scrape == "true" ? "false" : "true";
    publish_pod(w, *pod);
    return named(w, *pod) + " gets annotation prometheus.io/scrape=" + scrape;
}

std::string Shop::Impl::relabel_node() {
    Node& node = nodes_[pick(nodes_.size())];
    std::string text;
    if (node.labels.erase("maintenance") != 0) {
        text = "node " + node.name + " loses label maintenance=planned";
    } else {
        node.labels["maintenance"] = "planned";
        text = "node " + node.name + " gets label maintenance=planned";
    }
    const auto object = *server_.get("nodes", "", node.name);
    const std::string created(object.at("metadata").at("creationTimestamp").as_string());
    server_.apply(shop::node_object(node, created));
    return text;
}

std::string Shop::Impl::run_job() {
    const std::string name = "report-" + std::to_string(29'000'000 + 5 * runs_++);
    const std::string uid = make_uid();
    const std::string created = now();
    server_.apply(shop::job_object(name, uid, cron_job_uid_, created, false));
    const std::string pod_uid = create_pod(report_, name + "-" + suffix(5));
    Pod& pod = *find(report_, pod_uid);
    pod.owner_name = name;
    pod.owner_uid = uid;
    pod.labels = {{"job-name", name}, {"app.kubernetes.io/name", "report"}};
    pod.ip = free_ip(*pod.node);
    pod.phase = "Running";
    pod.ready = true;
    publish_pod(report_, pod);
    pending_.emplace_back([this, name, uid, created, pod_uid] {
        Pod& done = *find(report_, pod_uid);
        done.phase = "Succeeded";
        done.ready = false;
        publish_pod(report_, done);
        server_.apply(shop::job_object(name, uid, cron_job_uid_, created, true));
        return "job payments/" + name + " has succeeded";
    });
    pending_.emplace_back([this, name, pod_uid] {
        server_.remove("jobs", report_.ns, name);
        server_.remove("pods", report_.ns, find(report_, pod_uid)->name);
        report_.pods.clear();
        return "job payments/" + name + " is cleaned up";
    });
    return "cronjob payments/report starts job " + name;
}

/// Adds a pod to the model and the server. \returns its uid
std::string Shop::Impl::create_pod(Workload& w, std::string name) {
    Pod pod;
    pod.uid = make_uid();
    pod.created = now();
    pod.node = &nodes_[next_node_++ % nodes_.size()];
    pod.image = "registry.example.com/" + w.name + ":v" + std::to_string(w.version);
    pod.labels = {{"app.kubernetes.io/name", w.name}, {"app.kubernetes.io/part-of", w.ns}};
    if (!w.scrape_port.empty()) {
        pod.annotations = {{"prometheus.io/scrape", "true"}, {"prometheus.io/port", w.scrape_port}};
    }
    pod.owner_kind = w.kind;
    pod.owner_name = w.name;
    pod.owner_uid = w.uid;
    if (w.kind == "Deployment") {
        const Workload::ReplicaSet& rs = w.replica_sets.back();
        pod.owner_kind = "ReplicaSet";
        pod.owner_name = rs.name;
        pod.owner_uid = rs.uid;
        pod.labels["pod-template-hash"] = rs.hash;
    } else if (w.kind == "StatefulSet") {
        pod.labels["apps.kubernetes.io/pod-index"] = name.substr(name.rfind('-') + 1);
    }
    pod.name = name.empty() ? pod.owner_name + "-" + suffix(5) : std::move(name);
    w.pods.push_back(pod);
    publish_pod(w, pod);
    return pod.uid;
}

void Shop::Impl::then_start(Workload& w, const std::string& uid) {
    pending_.emplace_front([this, &w, uid]() -> std::string {
        Pod* const pod = find(w, uid);
        if (!pod) return {};
        pod->ready = true;
        publish_pod(w, *pod);
        publish_derived(w);
        return named(w, *pod) + " is ready";
    });
    pending_.emplace_front([this, &w, uid]() -> std::string {
        Pod* const pod = find(w, uid);
        if (!pod) return {};
        pod->ip = w.host_network ? pod->node->ip : free_ip(*pod->node);
        pod->phase = "Running";
        publish_pod(w, *pod);
        publish_derived(w);
        return named(w, *pod) + " runs with address " + pod->ip;
    });
}

void Shop::Impl::then_end(Workload& w, const std::string& uid) {
    pending_.emplace_back([this, &w, uid]() -> std::string {
        Pod* const pod = find(w, uid);
        if (!pod) return {};
        pod->deleted = now();
        publish_pod(w, *pod);
        publish_derived(w);
        return named(w, *pod) + " is terminating";
    });
    pending_.emplace_back([this, &w, uid]() -> std::string {
        Pod* const pod = find(w, uid);
        if (!pod) return {};
        std::string text = named(w, *pod) + " is gone";
        server_.remove("pods", w.ns, pod->name);
        w.pods.erase(w.pods.begin() + (pod - w.pods.data()));
        publish_derived(w);
        return text;
    });
}

/// A Deployment starts the new pod first; other workloads reuse names or nodes, so the old pod goes
/// first.
void Shop::Impl::then_replace(Workload& w, const std::string& uid) {
    const bool keeps_place = w.kind != "Deployment";
    if (keeps_place) then_end(w, uid);
    const Pod& old = *find(w, uid);
    pending_.emplace_back([this, &w, node = old.node, keeps_place,
                           name = w.kind == "StatefulSet" ? old.name : std::string()] {
        if (keeps_place) next_node_ = static_cast<std::size_t>(node - &nodes_.front());
        const std::string fresh = create_pod(w, name);
        then_start(w, fresh);
        return named(w, *find(w, fresh)) + " created on " + find(w, fresh)->node->name;
    });
    if (!keeps_place) then_end(w, uid);
}

void Shop::Impl::publish_derived(const Workload& w) {
    server_.apply(workload_object(w));
    for (const Workload::ReplicaSet& rs : w.replica_sets) {
        server_.apply(replica_set_object(w, rs));
    }
    server_.apply(endpoints_object(w));
    server_.apply(endpoint_slice_object(w));
}

}  // namespace k8s_sd::inline v0::sim
