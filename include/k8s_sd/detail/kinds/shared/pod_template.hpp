#pragma once

#include "k8s_sd/detail/labels/block_batch.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A port of a container, or a container without ports.
struct PodPort {
    /// Positions in `labels`; only a declared port has those of a port.
    enum Position : std::size_t {
        name_position,
        image_position,
        init_position,
        protocol_position,
        port_name_position,
        port_number_position,
    };

    LabelBlockPtr labels;
    std::int32_t number = 0;
    /// The number of its container, from 1. The ports of a container follow each other.
    std::uint32_t container : 28 = 0;
    bool declared : 1 = false;  ///< false: the container has no ports
    bool init : 1 = false;
    bool sidecar : 1 = false;  ///< an init container with restartPolicy Always
    bool terminated : 1 = false;

    friend bool operator==(const PodPort& a, const PodPort& b) noexcept {
        return a.number == b.number && a.container == b.container && a.declared == b.declared &&
               a.init == b.init && a.sidecar == b.sidecar && a.terminated == b.terminated &&
               same(a.labels, b.labels);
    }
};

/// Each container has a block of its own.
static_assert(LabelFactory::max_bytes / sizeof(LabelBlock) < std::size_t{1} << 28U);

/// The part of a pod that most pods of its controller have in common: the namespace, and the ports
/// of the containers. Immutable.
class PodTemplate final : public boost::intrusive_ref_counter<PodTemplate> {
 public:
    using Ports = boost::container::small_vector<PodPort, 8>;

    /// \param ports  moved from
    static boost::intrusive_ptr<const PodTemplate> make(LabelBlockPtr namespace_name,
                                                        Ports& ports) {
        void* const memory = ::operator new(sizeof(PodTemplate) + ports.size() * sizeof(PodPort));
        return new (memory) PodTemplate(std::move(namespace_name), ports);
    }
    ~PodTemplate() { std::destroy(ports().begin(), ports().end()); }
    PodTemplate(const PodTemplate&) = delete;
    PodTemplate& operator=(const PodTemplate&) = delete;
    // The allocation is larger than the class, so it must not be freed by the class's size.
    static void operator delete(void* memory) noexcept { ::operator delete(memory); }

    const LabelBlockPtr& namespace_name() const noexcept { return namespace_name_; }
    std::span<const PodPort> ports() const noexcept {
        return {reinterpret_cast<const PodPort*>(this + 1), ports_};
    }
    /// The number of containers.
    std::size_t containers() const noexcept { return ports_ == 0 ? 0 : ports().back().container; }

    /// Whether make() would return a template with identical blocks.
    bool consists_of(const LabelBlockPtr& namespace_name, const Ports& ports) const noexcept {
        const auto is_identical = [](const PodPort& a, const PodPort& b) {
            return a.labels == b.labels && a == b;
        };
        return namespace_name_ == namespace_name &&
               std::ranges::equal(this->ports(), ports, is_identical);
    }
    friend bool operator==(const PodTemplate& a, const PodTemplate& b) noexcept {
        return &a == &b || (same(a.namespace_name_, b.namespace_name_) &&
                            std::ranges::equal(a.ports(), b.ports()));
    }

 private:
    PodTemplate(LabelBlockPtr namespace_name, Ports& ports) noexcept
        : ports_(static_cast<std::uint32_t>(ports.size())),
          namespace_name_(std::move(namespace_name)) {
        auto* const memory = reinterpret_cast<PodPort*>(this + 1);
        std::uninitialized_move(ports.begin(), ports.end(), memory);
    }

    std::uint32_t ports_;  // first, because the count of references has four bytes as well
    LabelBlockPtr namespace_name_;
};

static_assert(sizeof(PodTemplate) % alignof(PodPort) == 0);

using PodTemplatePtr = boost::intrusive_ptr<const PodTemplate>;

/// Makes label blocks, and shares what several objects have in common. Used on one strand.
class ObjectFactory : public LabelFactory {
 public:
    /// \param ports  moved from, or as before
    PodTemplatePtr pod_template(const LabelBlockPtr& namespace_name, PodTemplate::Ports& ports) {
        if (is_large(*namespace_name, ports)) return PodTemplate::make(namespace_name, ports);
        // Equal blocks are identical as long as they are in the factory's cache.
        std::size_t hash = address_of(namespace_name);
        for (const PodPort& port : ports) {
            hash = (hash ^ address_of(port.labels) ^ (port.terminated ? 1U : 0U)) *
                   0x9E3779B97F4A7C15U;
        }
        hash ^= hash >> 32U;
        const auto equal = [&](const PodTemplate& known) {
            return known.consists_of(namespace_name, ports);
        };
        return pod_templates_.get(hash, equal,
                                  [&] { return PodTemplate::make(namespace_name, ports); });
    }

 private:
    // Templates with more ports hardly repeat, and the cache must not retain much memory.
    static constexpr std::size_t max_shared_ports = 256;

    static bool is_large(const LabelBlock& namespace_name, const PodTemplate::Ports& ports) {
        return ports.size() > max_shared_ports || namespace_name.packed().size() > largest_shared ||
               std::any_of(ports.begin(), ports.end(), [](const PodPort& port) {
                   return port.labels->packed().size() > largest_shared;
               });
    }
    static std::size_t address_of(const LabelBlockPtr& block) noexcept {
        return reinterpret_cast<std::uintptr_t>(block.get());
    }

    RecentCache<PodTemplatePtr> pod_templates_{16384};
};

}  // namespace k8s_sd::inline v0::detail
