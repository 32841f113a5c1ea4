#pragma once

#include "k8s_sd/detail/objects/model/endpoints.hpp"
#include "k8s_sd/detail/roles/pod.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A copy of strings in one allocation.
class OwnedText {
 public:
    explicit OwnedText(std::size_t capacity) { text_.reserve(capacity); }
    OwnedText(const OwnedText&) = delete;
    OwnedText& operator=(const OwnedText&) = delete;
    std::string_view keep(std::string_view text) {
        const std::size_t offset = text_.size();
        text_ += text;
        return std::string_view(text_).substr(offset);
    }

 private:
    std::string text_;
};

/// What is behind an address, and on which node.
struct Backing {
    std::string_view kind, ns, name, node;

    friend bool operator==(const Backing&, const Backing&) = default;
    static std::size_t text_size(const model::TargetReference& target, std::string_view node) {
        return target.kind.size() + target.ns.size() + target.name.size() + node.size();
    }
    static Backing keep(const model::TargetReference& target, std::string_view node,
                        OwnedText& text) {
        return {text.keep(target.kind), text.keep(target.ns), text.keep(target.name),
                text.keep(node)};
    }
};

/// The pods behind the addresses of one Endpoints or EndpointSlice object. Ports of theirs that
/// the object does not cover become targets of their own.
class BackingPods {
 public:
    BackingPods(std::string_view ns, bool has_service) : ns_(ns), has_service_(has_service) {}

    const PodObject* find(const Backing& backing, GeneratorContext& g) const {
        if (backing.kind != "Pod") return nullptr;
        const bool other_cache = g.options.prometheus() && g.options.by_namespace;
        if (other_cache && backing.ns != ns_) return nullptr;
        return g.lookup.get<PodObject>(Kind::pod, backing.ns, backing.name);
    }

    void cover(const PodObject& pod, std::optional<std::int32_t> port) {
        const auto [it, added] = index_.try_emplace(&pod, pods_.size());
        if (added) pods_.push_back({&pod, {}});
        if (port) pods_[it->second].covered.push_back(*port);
    }

    /// Adds a pod's labels to a target. With vmagent those include the pod's namespace and what
    /// is attached to the pod; with Prometheus they are the endpoint's.
    void add_labels(const PodObject& pod, GeneratorContext& g, bool extra_target) const {
        const bool elsewhere = pod.ns() != ns_;
        if (g.options.victoriametrics() && elsewhere && !(extra_target && has_service_)) {
            g.group.add(pod.namespace_name);
        }
        add_pod_labels(pod, g);
        if (!g.options.victoriametrics()) return;
        attach_node(g, pod.node_name());
        if (elsewhere || !has_service_) attach_namespace(g, pod.ns());
    }

    /// `begin(pod)` may add labels of its own to the target that was begun.
    template <class Begin>
    void add_extra_targets(GeneratorContext& g, Begin begin) const {
        for (const auto& [pod, covered] : pods_) {
            if (pod->ip().empty()) continue;
            for (const PodPort& port : pod->ports) {
                if (g.group.overfull()) return;
                if (!port.declared || !is_endpoint_port(port, g.options)) continue;
                if (std::find(covered.begin(), covered.end(), port.number) != covered.end())
                    continue;
                g.group.begin_target()
                    .add(address_label(g.factory, join_host_port(pod->ip(), port.number)))
                    .add(port.labels);
                add_labels(*pod, g, true);
                begin(*pod);
            }
        }
    }

    /// vmagent leaves out the ports of init containers that are not sidecars.
    static bool is_endpoint_port(const PodPort& port, const RoleOptions& options) {
        return options.prometheus() || !port.init || port.sidecar;
    }

    /// The container port with a number: the first such port of the last container that has one.
    template <class Allowed>
    static const PodPort* find_port(const PodObject& pod, std::int32_t number, Allowed allowed) {
        const PodPort* found = nullptr;
        for (const PodPort& port : pod.ports) {
            if (!port.declared || port.number != number || !allowed(port)) continue;
            if (found == nullptr || found->container != port.container) found = &port;
        }
        return found;
    }

 private:
    struct Entry {
        const PodObject* pod;
        std::vector<std::int32_t> covered;
    };
    std::string_view ns_;
    bool has_service_;
    std::vector<Entry> pods_;
    boost::unordered_flat_map<const PodObject*, std::size_t> index_;
};

/// attach_metadata.namespace of an Endpoints or EndpointSlice object. vmagent finds the namespace
/// through the service or the pod only.
inline void attach_endpoint_namespace(GeneratorContext& g, std::string_view ns, bool has_service) {
    if (g.options.prometheus() || has_service) attach_namespace(g, ns);
}

}  // namespace k8s_sd::inline v0::detail
