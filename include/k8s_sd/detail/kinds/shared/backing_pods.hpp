#pragma once

#include "k8s_sd/api/endpoints.hpp"
#include "k8s_sd/detail/kinds/pod.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Copies of strings in one allocation.
class OwnedText {
 public:
    explicit OwnedText(std::size_t capacity) { text_.reserve(capacity); }
    OwnedText(const OwnedText&) = delete;
    OwnedText& operator=(const OwnedText&) = delete;
    std::string_view copy(std::string_view text) {
        const std::size_t offset = text_.size();
        text_ += text;
        return std::string_view(text_).substr(offset);
    }

 private:
    std::string text_;
};

/// The object behind an address. An empty reference differs from a missing one.
using TargetRef = std::optional<api::ObjectReference>;

/// The object behind an address, and its node.
struct Backing {
    std::string_view kind, ns, name, node;

    friend bool operator==(const Backing&, const Backing&) = default;
    static std::size_t text_size(const TargetRef& target, std::string_view node) {
        if (!target) return node.size();
        return target->kind.size() + target->namespace_.size() + target->name.size() + node.size();
    }
    static Backing copy(const TargetRef& target, std::string_view node, OwnedText& text) {
        if (!target) return {{}, {}, {}, text.copy(node)};
        return {text.copy(target->kind), text.copy(target->namespace_), text.copy(target->name),
                text.copy(node)};
    }
};

/// Whether the address gets labels of its reference.
inline bool writes_reference(const TargetRef& target, const RoleOptions& options) {
    return target && (options.rules->writes_references_without_kind || !target->kind.empty());
}

/// Selects the leading address of each pod: the first one in the order of the object. The targets
/// for the pod's ports missing in the object are added with it. Positions count the calls of add().
class LeadingAddresses {
 public:
    /// Adds the next address.
    /// \returns the position of the pod's leading address; nullopt: not a pod
    std::optional<std::size_t> add(const Backing& backing) {
        const std::size_t position = leads_.size();
        const bool is_pod = backing.kind == "Pod";
        const auto [it, first] = is_pod
                                     ? positions_.try_emplace({backing.ns, backing.name}, position)
                                     : std::pair(positions_.end(), false);
        leads_.push_back(first);
        if (!is_pod) return std::nullopt;
        return it->second;
    }
    std::size_t size() const noexcept { return leads_.size(); }
    /// Adds an address without targets.
    void add_none() { leads_.push_back(false); }
    std::vector<bool> leads() && { return std::move(leads_); }

 private:
    boost::unordered_flat_map<NameView, std::size_t, KeyHash, KeyEqual> positions_;
    std::vector<bool> leads_;
};

/// The pods behind the addresses of one Endpoints or EndpointSlice object. Their ports missing in
/// the object become separate targets.
class BackingPods {
 public:
    BackingPods(std::string_view ns, bool has_service) : ns_(ns), has_service_(has_service) {}

    const PodObject* find(const Backing& backing, GeneratorContext& g) const {
        if (backing.kind != "Pod") return nullptr;
        const bool only_here =
            g.options.rules->finds_pods_in_own_namespace_only && g.options.by_namespace;
        if (only_here && backing.ns != ns_) return nullptr;
        return g.lookup.get<PodObject>(Kind::pod, backing.ns, backing.name);
    }

    /// Adds a pod's labels to the common labels.
    void add_labels(const PodObject& pod, GeneratorContext& g, bool extra_target) const {
        const DialectRules& rules = *g.options.rules;
        const bool elsewhere = pod.ns() != ns_;
        const bool prefers_service = extra_target && has_service_;
        if (rules.writes_namespace_of_pod_elsewhere && elsewhere && !prefers_service) {
            g.group.add(pod.content().namespace_name());
        }
        add_pod_labels(pod, g);
        if (!rules.attaches_through_pod_or_service) return;
        attach_node(g, pod.node_name());
        if (elsewhere && prefers_service) return attach_namespace_behind(g, pod.ns(), ns_);
        if (elsewhere || !has_service_) attach_namespace(g, pod.ns());
    }

    /// Adds targets for the pod's ports missing in the object. `refer()` may add common labels for
    /// these targets.
    /// \param covered  the port numbers in the object, sorted
    template <class Refer>
    void add_extra_targets(const PodObject& pod, std::span<const std::int32_t> covered,
                           GeneratorContext& g, Refer refer) const {
        g.group.begin_extra_targets();
        if (pod.ip().empty()) return;
        bool begun = false;
        for (const PodPort& port : pod.content().ports()) {
            if (g.group.overfull()) return;
            if (!port.declared || !is_endpoint_port(port, g.options)) continue;
            if (std::binary_search(covered.begin(), covered.end(), port.number)) continue;
            if (!std::exchange(begun, true)) {
                g.group.begin_common();
                add_labels(pod, g, true);
                refer();
            }
            g.group.begin_target(join_host_port(pod.ip(), port.number))
                .add(port.labels)
                .add_common();
        }
    }

    static bool is_endpoint_port(const PodPort& port, const RoleOptions& options) {
        return !options.rules->skips_ports_of_init_containers || !port.init || port.sidecar;
    }

    /// The container port with this number: the first one of the last matching container.
    /// \param allowed  filters ports; equal in each call
    template <class Allowed>
    const PodPort* find_port(const PodObject& pod, std::int32_t number, Allowed allowed) const {
        const auto ports_with = [&](const auto& ports) {
            const PodPort* found = nullptr;
            for (const PodPort& port : ports) {
                if (!port.declared || port.number != number || !allowed(port)) continue;
                if (found == nullptr || found->container != port.container) found = &port;
            }
            return found;
        };
        if (pod.content().ports().size() <= few_ports) return ports_with(pod.content().ports());
        return ports_with(same_number(pod, number));
    }

 private:
    static constexpr std::size_t few_ports = 32;  // below this, a linear search is fast
    using SortedPorts = std::vector<std::reference_wrapper<const PodPort>>;

    /// Cached per pod, because many addresses may refer to one pod.
    std::span<const std::reference_wrapper<const PodPort>> same_number(const PodObject& pod,
                                                                       std::int32_t number) const {
        const auto [it, is_new] = sorted_.try_emplace(&pod);
        SortedPorts& ports = it->second;
        if (is_new) {
            ports.assign(pod.content().ports().begin(), pod.content().ports().end());
            std::ranges::stable_sort(ports, {}, &PodPort::number);
        }
        const auto range = std::ranges::equal_range(ports, number, {}, &PodPort::number);
        return {range.begin(), range.end()};
    }

    std::string_view ns_;
    bool has_service_;
    mutable boost::unordered_flat_map<const PodObject*, SortedPorts> sorted_;
};

/// attach_metadata.namespace of an Endpoints or EndpointSlice object.
inline void attach_endpoint_namespace(GeneratorContext& g, std::string_view ns, bool has_service) {
    if (has_service || !g.options.rules->attaches_through_pod_or_service) attach_namespace(g, ns);
}

}  // namespace k8s_sd::inline v0::detail
