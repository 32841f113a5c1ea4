#pragma once

#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/namespace_.hpp"
#include "k8s_sd/detail/kinds/node.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/kinds/shared/pod_template.hpp"
#include "k8s_sd/detail/kinds/shared/workload.hpp"
#include "k8s_sd/detail/objects/label_object.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class PodObject;

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::ContainerPort> {
    using P = api::ContainerPort;
    static constexpr FieldRows rows{
        Row<&P::name>{"name", 1, Use::labels},
        Row<&P::host_port>{"hostPort", 2},
        Row<&P::container_port>{"containerPort", 3, Use::labels},
        Row<&P::protocol>{"protocol", 4, Use::labels},
    };
};

template <>
struct Table<api::Container> {
    using C = api::Container;
    static constexpr FieldRows rows{
        Row<&C::name>{"name", 1, Use::labels},
        Row<&C::image>{"image", 2, Use::labels},
        Row<&C::ports>{"ports", 6, Use::labels},
        Row<&C::restart_policy>{"restartPolicy", 24, Use::labels},
    };
};

template <>
struct Table<api::EphemeralContainer> {
    using C = api::EphemeralContainer;
    static constexpr FieldRows rows{
        Inlined{1, FieldRows{
            Row<&C::name>{"name", 1},
            Row<&C::image>{"image", 2},
        }},
        Row<&C::target_container_name>{"targetContainerName", 2},
    };
};

template <>
struct Table<api::ContainerStateWaiting> {
    using S = api::ContainerStateWaiting;
    static constexpr FieldRows rows{
        Row<&S::reason>{"reason", 1},
        Row<&S::message>{"message", 2},
    };
};

template <>
struct Table<api::ContainerStateRunning> {
    static constexpr FieldRows rows{
        Row<&api::ContainerStateRunning::started_at>{"startedAt", 1},
    };
};

template <>
struct Table<api::ContainerStateTerminated> {
    using S = api::ContainerStateTerminated;
    static constexpr FieldRows rows{
        Row<&S::exit_code>{"exitCode", 1},
        Row<&S::signal>{"signal", 2},
        Row<&S::reason>{"reason", 3},
        Row<&S::message>{"message", 4},
        Row<&S::started_at>{"startedAt", 5},
        Row<&S::finished_at>{"finishedAt", 6},
        Row<&S::container_id>{"containerID", 7},
    };
};

template <>
struct Table<api::ContainerState> {
    using S = api::ContainerState;
    static constexpr FieldRows rows{
        Row<&S::waiting>{"waiting", 1},
        Row<&S::running>{"running", 2},
        Row<&S::terminated>{"terminated", 3, Use::labels},
    };
};

template <>
struct Table<api::ContainerStatus> {
    using S = api::ContainerStatus;
    static constexpr FieldRows rows{
        Row<&S::name>{"name", 1, Use::labels},
        Row<&S::state>{"state", 2, Use::labels},
        Row<&S::last_state>{"lastState", 3},
        Row<&S::ready>{"ready", 4},
        Row<&S::restart_count>{"restartCount", 5},
        Row<&S::image>{"image", 6},
        Row<&S::image_id>{"imageID", 7},
        Row<&S::container_id>{"containerID", 8, Use::labels},
        Row<&S::started>{"started", 9},
    };
};

template <>
struct Table<api::PodCondition> {
    using C = api::PodCondition;
    static constexpr FieldRows rows{
        Row<&C::type>{"type", 1, Use::labels},
        Row<&C::status>{"status", 2, Use::labels},
        Row<&C::last_transition_time>{"lastTransitionTime", 4},
        Row<&C::reason>{"reason", 5},
        Row<&C::message>{"message", 6},
    };
};

template <>
struct Table<api::PodIP> {
    static constexpr FieldRows rows{Row<&api::PodIP::ip>{"ip", 1}};
};

template <>
struct Table<api::PodSpec> {
    using S = api::PodSpec;
    static constexpr FieldRows rows{
        Row<&S::containers>{"containers", 2, Use::labels},
        Row<&S::restart_policy>{"restartPolicy", 3},
        Row<&S::service_account_name>{"serviceAccountName", 8},
        Row<&S::node_name>{"nodeName", 10, Use::labels},
        Row<&S::host_network>{"hostNetwork", 11},
        Row<&S::hostname>{"hostname", 16},
        Row<&S::subdomain>{"subdomain", 17},
        Row<&S::scheduler_name>{"schedulerName", 19},
        Row<&S::init_containers>{"initContainers", 20, Use::labels},
        Row<&S::priority_class_name>{"priorityClassName", 24},
        Row<&S::runtime_class_name>{"runtimeClassName", 29},
        Row<&S::ephemeral_containers>{"ephemeralContainers", 34},
    };
};

template <>
struct Table<api::PodStatus> {
    using S = api::PodStatus;
    static constexpr FieldRows rows{
        Row<&S::phase>{"phase", 1, Use::labels},
        Row<&S::conditions>{"conditions", 2, Use::labels},
        Row<&S::message>{"message", 3},
        Row<&S::reason>{"reason", 4},
        Row<&S::host_ip>{"hostIP", 5, Use::labels},
        Row<&S::pod_ip>{"podIP", 6, Use::labels},
        Row<&S::start_time>{"startTime", 7},
        Row<&S::container_statuses>{"containerStatuses", 8, Use::labels},
        Row<&S::qos_class>{"qosClass", 9},
        Row<&S::init_container_statuses>{"initContainerStatuses", 10, Use::labels},
        Row<&S::pod_ips>{"podIPs", 12},
        Row<&S::ephemeral_container_statuses>{"ephemeralContainerStatuses", 13},
        Row<&S::host_ips>{"hostIPs", 16},
    };
};

template <>
struct KindTraits<Kind::pod> {
    using Model = api::Pod;
    using LabelObject = PodObject;
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::spec>{"spec", 2, Use::labels},
        Row<&Model::status>{"status", 3, Use::labels},
    };
};

// clang-format on

inline constexpr MetadataNames pod_metadata_names{
    {"__meta_kubernetes_pod_label_", "__meta_kubernetes_pod_labelpresent_"},
    {"__meta_kubernetes_pod_annotation_", "__meta_kubernetes_pod_annotationpresent_"}};

/// The content of a pod: its template, its metadata, and in the same allocation the blocks of this
/// pod alone: `info`, and the ID of each container. It is not in the allocation of the PodObject,
/// because target groups keep it.
class PodContent final : public BlockOwner {
 public:
    /// \param own  `info`, and the ID of each container of the template; moved from
    static boost::intrusive_ptr<const PodContent> make(PodTemplatePtr pod_template,
                                                       Metadata metadata, BlockBatch& own) {
        void* const memory = ::operator new(sizeof(PodContent) + own.bytes());
        return new (memory) PodContent(std::move(pod_template), std::move(metadata), own);
    }
    ~PodContent() override {
        const LabelBlock* block = &info();
        for (std::size_t left = template_->containers();; --left) {
            const LabelBlock* const next = behind(*block);
            std::destroy_at(block);
            if (left == 0) break;
            block = next;
        }
    }
    // The allocation is larger than the class, so it must not be freed by the class's size.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

    const LabelBlockPtr& namespace_name() const noexcept { return template_->namespace_name(); }
    const Metadata& metadata() const noexcept { return metadata_; }
    std::span<const PodPort> ports() const noexcept { return template_->ports(); }
    const LabelBlock& info() const noexcept {
        return *reinterpret_cast<const LabelBlock*>(this + 1);
    }
    /// Calls `visit(const PodPort&, const LabelBlock& container_id)` for each port.
    template <class Visit>
    void for_each_port(Visit visit) const {
        const LabelBlock* id = &info();
        std::uint32_t container = 0;
        for (const PodPort& port : ports()) {
            if (std::exchange(container, port.container) != port.container) id = behind(*id);
            visit(port, *id);
        }
    }

    friend bool operator==(const PodContent& a, const PodContent& b) noexcept {
        return a.metadata_ == b.metadata_ && *a.template_ == *b.template_ && a.has_same_own(b);
    }

 private:
    PodContent(PodTemplatePtr pod_template, Metadata metadata, BlockBatch& own) noexcept
        : template_(std::move(pod_template)), metadata_(std::move(metadata)) {
        own.make_in(this + 1, *this);
    }
    static const LabelBlock* behind(const LabelBlock& block) noexcept {
        const auto* const begin = reinterpret_cast<const char*>(&block);
        return reinterpret_cast<const LabelBlock*>(begin +
                                                   LabelBlock::size_with(block.packed().size()));
    }
    /// \pre the templates are equal
    bool has_same_own(const PodContent& other) const noexcept {
        const LabelBlock* a = &info();
        const LabelBlock* b = &other.info();
        for (std::size_t left = template_->containers(); *a == *b; --left) {
            if (left == 0) return true;
            a = behind(*a);
            b = behind(*b);
        }
        return false;
    }

    PodTemplatePtr template_;
    Metadata metadata_;
};

static_assert(sizeof(PodContent) % alignof(LabelBlock) == 0);

class PodObject : public LabelObject {
 public:
    /// Positions in `info`; only a pod with a controller has those of the controller.
    enum Position : std::size_t {
        name_position,
        ip_position,
        node_name_position,
        host_ip_position,
        phase_position,
        ready_position,
        uid_position,
        controller_kind_position,
        controller_name_position,
    };

    PodObject(const api::Pod& pod, const RoleOptions& options, ObjectFactory& factory);
    Labels metadata_labels() const noexcept override { return content().metadata().labels(); }
    bool same_content(const Object& other) const noexcept override {
        return content() == static_cast<const PodObject&>(other).content();
    }

    const PodContent& content() const noexcept { return *content_; }
    std::string_view ip() const noexcept { return info(ip_position); }
    std::string_view node_name() const noexcept { return info(node_name_position); }
    std::string_view controller_kind() const noexcept {
        return has_controller() ? info(controller_kind_position) : std::string_view();
    }
    std::string_view controller_name() const noexcept {
        return has_controller() ? info(controller_name_position) : std::string_view();
    }
    /// Whether the phase is Succeeded or Failed.
    bool finished() const noexcept {
        const std::string_view phase = info(phase_position);
        return phase == "Succeeded" || phase == "Failed";
    }

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), {content().namespace_name(), LabelBlockPtr(&content().info())});
        const auto& metadata = content().metadata().blocks;
        blocks.insert(blocks.end(), metadata.begin(), metadata.end());
    }
    std::string_view info(Position position) const noexcept {
        return content().info().value(position);
    }
    bool has_controller() const noexcept {
        return content().info().shape().entries().size() > controller_kind_position;
    }

    boost::intrusive_ptr<const PodContent> content_;
};

/// The status of the Ready condition in lower case; "unknown" if missing.
inline std::string pod_ready(const api::Pod& pod) {
    for (const api::PodCondition& condition : pod.status.conditions) {
        if (condition.type == "Ready") return lower_case(condition.status);
    }
    return "unknown";
}

inline void add_pod_info(const api::Pod& pod, LabelFactory& factory, BlockBatch& own) {
    auto labels = factory.block();
    labels.add_at(PodObject::name_position, "__meta_kubernetes_pod_name", pod.metadata.name)
        .add_at(PodObject::ip_position, "__meta_kubernetes_pod_ip", pod.status.pod_ip)
        .add_at(PodObject::node_name_position, "__meta_kubernetes_pod_node_name",
                pod.spec.node_name)
        .add_at(PodObject::host_ip_position, "__meta_kubernetes_pod_host_ip", pod.status.host_ip)
        .add_at(PodObject::phase_position, "__meta_kubernetes_pod_phase", pod.status.phase)
        .add_at(PodObject::ready_position, "__meta_kubernetes_pod_ready", pod_ready(pod))
        .add_at(PodObject::uid_position, "__meta_kubernetes_pod_uid", pod.metadata.uid);
    if (const auto* controller = pod.metadata.controller()) {
        labels
            .add_at(PodObject::controller_kind_position, "__meta_kubernetes_pod_controller_kind",
                    controller->kind)
            .add_at(PodObject::controller_name_position, "__meta_kubernetes_pod_controller_name",
                    controller->name);
    }
    labels.add_to(own);
}

/// The statuses of containers by name; of several the first one, as in both programs.
class ContainerStatuses {
 public:
    explicit ContainerStatuses(const std::vector<api::ContainerStatus>& all) : all_(all) {
        if (all.size() <= few) return;
        by_name_.reserve(all.size());
        for (const api::ContainerStatus& status : all) by_name_.try_emplace(status.name, &status);
    }
    /// \returns null if there is none
    const api::ContainerStatus* operator()(std::string_view name) const {
        if (all_.size() > few) {
            const auto it = by_name_.find(name);
            return it == by_name_.end() ? nullptr : it->second;
        }
        const auto it = std::ranges::find(all_, name, &api::ContainerStatus::name);
        return it == all_.end() ? nullptr : &*it;
    }

 private:
    static constexpr std::size_t few = 16;  // below this, a linear search is fast

    const std::vector<api::ContainerStatus>& all_;
    boost::unordered_flat_map<std::string_view, const api::ContainerStatus*, SeededHash> by_name_;
};

inline void add_containers(const std::vector<api::Container>& containers,
                           const std::vector<api::ContainerStatus>& statuses, bool init,
                           LabelFactory& factory, PodTemplate::Ports& ports, BlockBatch& own) {
    const ContainerStatuses status_of(statuses);
    std::uint32_t number = ports.empty() ? 0 : ports.back().container;
    for (const api::Container& container : containers) {
        const api::ContainerStatus* const status = status_of(container.name);
        PodPort port;
        port.init = init;
        port.sidecar = init && container.restart_policy == "Always";
        port.terminated = status != nullptr && status->state.terminated.has_value();
        const std::string_view id = status != nullptr ? status->container_id : std::string_view();
        factory.block().add("__meta_kubernetes_pod_container_id", id).add_to(own);
        port.container = ++number & 0xFFFFFFFU;
        const auto add_port = [&](const api::ContainerPort* declared) {
            auto labels = factory.block();
            labels
                .add_at(PodPort::name_position, "__meta_kubernetes_pod_container_name",
                        container.name)
                .add_at(PodPort::image_position, "__meta_kubernetes_pod_container_image",
                        container.image)
                .add_at(PodPort::init_position, "__meta_kubernetes_pod_container_init",
                        init ? "true" : "false");
            port.declared = declared != nullptr;
            if (declared != nullptr) {
                port.number = static_cast<std::int32_t>(declared->container_port);
                labels
                    .add_at(PodPort::protocol_position,
                            "__meta_kubernetes_pod_container_port_protocol", declared->protocol)
                    .add_at(PodPort::port_name_position,
                            "__meta_kubernetes_pod_container_port_name", declared->name)
                    .add_at(PodPort::port_number_position,
                            "__meta_kubernetes_pod_container_port_number",
                            std::to_string(declared->container_port));
            }
            factory.count_entry<PodPort>();
            ports.emplace_back(port).labels = labels.make_shared();
        };
        for (const api::ContainerPort& declared : container.ports) add_port(&declared);
        if (container.ports.empty()) add_port(nullptr);
    }
}

inline boost::intrusive_ptr<const PodContent> pod_content(const api::Pod& pod,
                                                          ObjectFactory& factory) {
    BlockBatch& own = factory.batch();
    add_pod_info(pod, factory, own);
    PodTemplate::Ports ports;
    add_containers(pod.spec.containers, pod.status.container_statuses, false, factory, ports, own);
    add_containers(pod.spec.init_containers, pod.status.init_container_statuses, true, factory,
                   ports, own);
    return PodContent::make(
        factory.pod_template(namespace_label(factory, pod.metadata.namespace_), ports),
        make_metadata(pod_metadata_names, pod.metadata, factory), own);
}

inline PodObject::PodObject(const api::Pod& pod, const RoleOptions&, ObjectFactory& factory)
    : LabelObject(Kind::pod, pod.metadata.uid), content_(pod_content(pod, factory)) {
    set_key(content().namespace_name()->only_value(), info(name_position));
}

/// The labels of a declared port with another protocol.
inline LabelBlockPtr with_protocol(LabelFactory& factory, const PodPort& port,
                                   std::string_view protocol) {
    if (port.labels->value(PodPort::protocol_position) == protocol) return port.labels;
    return factory.with_value(*port.labels, PodPort::protocol_position, protocol);
}

/// attach_metadata.deployment, .job and .cronjob: the workload behind a pod's controller.
inline void attach_workload(const PodObject& pod, GeneratorContext& g) {
    const AttachMetadata& attach = g.options.attach;
    if (!attach.deployment && !attach.job && !attach.cronjob) return;
    auto labels = g.factory.block();
    if (attach.deployment && pod.controller_kind() == "ReplicaSet") {
        const auto* set =
            g.lookup.get<WorkloadLink>(Kind::replicaset, pod.ns(), pod.controller_name());
        if (set != nullptr && set->controller_kind == "Deployment") {
            labels.add("__meta_kubernetes_pod_deployment_name", set->controller_name);
        }
    }
    if (pod.controller_kind() == "Job") {
        if (attach.job) labels.add("__meta_kubernetes_pod_job_name", pod.controller_name());
        if (attach.cronjob) {
            const auto* job =
                g.lookup.get<WorkloadLink>(Kind::job, pod.ns(), pod.controller_name());
            if (job != nullptr && job->controller_kind == "CronJob") {
                labels.add("__meta_kubernetes_pod_cronjob_name", job->controller_name);
            }
        }
    }
    g.group.add(labels.make_shared());
}

/// Adds the common labels of a pod's targets in any role, except the namespace.
inline void add_pod_labels(const PodObject& pod, GeneratorContext& g) {
    g.group.add(pod.content().info());
    pod.content().metadata().add_to(g.group);
    attach_workload(pod, g);
}

/// The addresses of a pod's targets, one after the other in the same memory.
class PodAddresses {
 public:
    PodAddresses(std::string_view ip, const DialectRules& rules) : ip_(ip), rules_(rules) {}

    /// A container without ports leads to an address without a port. Valid until the next call.
    std::string_view of(const PodPort& port) {
        if (!port.declared) {
            if (!rules_.brackets_bare_ipv6) return ip_;
            bare_ = in_brackets(ip_);
            return bare_;
        }
        if (host_size_ == 0) {
            append_host_port(with_port_, ip_, {});
            host_size_ = with_port_.size();
        }
        with_port_.resize(host_size_);
        with_port_ += std::to_string(port.number);
        return with_port_;
    }

 private:
    std::string_view ip_;
    const DialectRules& rules_;
    std::string with_port_, bare_;
    std::size_t host_size_ = 0;  // of the address before the port, with the colon; 0: not written
};

inline void pod_targets(const PodObject& pod, GeneratorContext& g) {
    if (pod.ip().empty()) return;
    const DialectRules& rules = *g.options.rules;
    if (rules.skips_finished_pods && pod.finished()) return;
    if (lacks_needed_node(g, pod.node_name())) return;
    g.group.add(pod.content().namespace_name());
    add_pod_labels(pod, g);
    attach_node(g, pod.node_name());
    attach_namespace(g, pod.ns());
    add_targets(g, [&] {
        PodAddresses addresses(pod.ip(), rules);
        pod.content().for_each_port([&](const PodPort& port, const LabelBlock& container_id) {
            if (rules.skips_terminated_containers && port.terminated) return;
            g.group.begin_target(addresses.of(port)).add(port.labels).add(container_id);
        });
    });
}

template <>
struct RoleTraits<Role::pod> {
    using MainObject = PodObject;
    static constexpr std::string_view source_prefix = "pod/";
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"pod_name", group, both, "", ""},
        {"pod_uid", group, both, "", ""},
        {"pod_ip", group, both, "", ""},
        {"pod_host_ip", group, both, "empty until the pod is on a node", ""},
        {"pod_node_name", group, both, "empty until the pod is on a node", ""},
        {"pod_phase", group, both, "`Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`", ""},
        {"pod_ready", group, both,
         "`true`, `false` or `unknown`; `unknown` for a pod without the condition", ""},
        {"pod_controller_kind", group, both, "", "for a pod that no controller owns"},
        {"pod_controller_name", group, both, "", "for a pod that no controller owns"},
        {"pod_label_<key>", group, both, "", "without that key"},
        {"pod_annotation_<key>", group, both, "", "without that key"},
        {"pod_container_name", target, both, "", ""},
        {"pod_container_image", target, both, "", ""},
        {"pod_container_init", target, both, "`true` for an init container, else `false`", ""},
        {"pod_container_id", target, both,
         "empty until the container was created; role `pod` only", ""},
        {"pod_container_port_name", target, both,
         "empty for a port without a name", "for a container without ports"},
        {"pod_container_port_number", target, both, "", "for a container without ports"},
        {"pod_container_port_protocol", target, both, "", "for a container without ports"},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_attached_to_pods(attach, kinds);
    }
    static void generate(const PodObject& pod, GeneratorContext& g) { pod_targets(pod, g); }
};

}  // namespace k8s_sd::inline v0::detail
