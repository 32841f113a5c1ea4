#pragma once

#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/kind.hpp"

#include <boost/container/small_vector.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Records the lookups of generated groups. Dependencies are observed, not declared. A lookup
/// without a result is recorded as well, so an object created later reaches the groups.
///
/// \tparam Dependent  its function `dependencies()` returns its Dependencies, as set by this graph
template <class Dependent>
class DependencyGraph {
 public:
    /// Usually one.
    using Dependents = boost::container::small_vector<Dependent*, 1>;

    /// An object that some group has looked up, existing or not.
    class Dependency {
     public:
        static std::unique_ptr<Dependency> make(Kind kind, std::string_view ns,
                                                std::string_view name) {
            void* memory = ::operator new(sizeof(Dependency) + ns.size() + name.size());
            return std::unique_ptr<Dependency>(new (memory) Dependency(kind, ns, name));
        }
        Dependency(const Dependency&) = delete;
        Dependency& operator=(const Dependency&) = delete;
        // The allocation is larger than the class: a sized delete would be wrong.
        static void operator delete(void* memory) noexcept { ::operator delete(memory); }

        Kind kind() const noexcept { return kind_; }
        std::string_view ns() const noexcept { return {text(), ns_size_}; }
        std::string_view name() const noexcept { return {text() + ns_size_, name_size_}; }
        const Dependents& dependents() const noexcept { return dependents_; }
        /// DependencyGraph::now() at its latest change; 0: none.
        std::uint64_t changed_at() const noexcept { return changed_at_; }

     private:
        friend class DependencyGraph;
        Dependency(Kind kind, std::string_view ns, std::string_view name)
            : ns_size_(static_cast<std::uint32_t>(ns.size())),
              name_size_(static_cast<std::uint32_t>(name.size())),
              kind_(kind) {
            char* const text = reinterpret_cast<char*>(this + 1);
            std::copy(name.begin(), name.end(), std::copy(ns.begin(), ns.end(), text));
        }
        const char* text() const noexcept { return reinterpret_cast<const char*>(this + 1); }

        Dependents dependents_;
        std::uint64_t changed_at_ = 0;
        std::uint32_t ns_size_;
        std::uint32_t name_size_;
        Kind kind_;
    };
    /// The lookup of an object by a group.
    struct Edge {
        Kind kind{};
        std::uint32_t position = 0;  ///< index of the group in the object's dependents
        Dependency* dependency = nullptr;
    };
    /// The lookups of a group before they are set.
    using Recorded = boost::container::small_vector<Edge, 1>;
    /// The lookups of a group, sorted. Usually one: the node of a pod. It is stored here, because
    /// each pod has such a group.
    class Dependencies {
     public:
        std::span<Edge> edges() noexcept {
            if (several_) return *several_;
            return {&only_, only_.dependency ? 1U : 0U};
        }

     private:
        friend class DependencyGraph;
        void assign(const Recorded& edges) {
            if (edges.size() > 1) {
                several_ = std::make_unique<std::vector<Edge>>(edges.begin(), edges.end());
            } else if (!edges.empty()) {
                only_ = edges.front();
            }
        }

        Edge only_;                                   // without an object: none
        std::unique_ptr<std::vector<Edge>> several_;  // null: at most one
    };

    /// Adds an object to `asked`. Valid until the next set_dependencies().
    void record(Kind kind, std::string_view ns, std::string_view name, Recorded& asked) {
        auto& known = known_[static_cast<std::size_t>(kind)];
        const auto* found = known.find(NameView{ns, name});
        if (!found) found = &known.insert(Dependency::make(kind, ns, name));
        asked.push_back({kind, 0, found->get()});
    }

    /// Replaces the dependencies of `dependent` with `asked`. Duplicates in `asked` are removed.
    /// The cost does not depend on the number of other dependents.
    void set_dependencies(Dependent& dependent, Recorded asked) {
        Dependencies& known = dependent.dependencies();
        const std::span<Edge> before = known.edges();
        std::sort(asked.begin(), asked.end(), is_before);
        asked.erase(std::unique(asked.begin(), asked.end(), are_same), asked.end());
        if (std::equal(asked.begin(), asked.end(), before.begin(), before.end(), are_same)) return;
        Dependencies now;
        now.assign(asked);
        for (Edge& used : now.edges()) {
            if (const Edge* same = find(before, used)) {
                used.position = same->position;
                continue;
            }
            auto& dependents = used.dependency->dependents_;
            used.position = static_cast<std::uint32_t>(dependents.size());
            dependents.push_back(&dependent);
        }
        for (const Edge& unused : before) {
            if (!find(now.edges(), unused)) drop(unused);
        }
        known = std::move(now);
    }

    /// The dependents of an object.
    const Dependents& dependents(Kind kind, std::string_view ns, std::string_view name) const {
        static const Immortal<const Dependents> none;
        const auto& known = known_[static_cast<std::size_t>(kind)];
        const auto* const found = known.find(NameView{ns, name});
        return found ? (*found)->dependents() : *none;
    }
    /// An object has changed.
    /// \returns its dependents
    const Dependents& note_change(Kind kind, std::string_view ns, std::string_view name) {
        static const Immortal<const Dependents> none;
        const auto& known = known_[static_cast<std::size_t>(kind)];
        if (known.empty()) return *none;  // saves the hash
        const auto* const found = known.find(NameView{ns, name});
        if (!found) return *none;
        (*found)->changed_at_ = ++now_;
        return (*found)->dependents();
    }
    /// The number of changes so far.
    std::uint64_t now() const noexcept { return now_; }
    bool empty() const noexcept {
        return std::all_of(known_.begin(), known_.end(), [](const auto& k) { return k.empty(); });
    }

 private:
    static bool is_before(const Edge& a, const Edge& b) noexcept {
        return std::tie(a.kind, a.dependency) < std::tie(b.kind, b.dependency);
    }
    static bool are_same(const Edge& a, const Edge& b) noexcept {
        return a.dependency == b.dependency;
    }
    static Edge* find(std::span<Edge> edges, const Edge& edge) {
        const auto it = std::lower_bound(edges.begin(), edges.end(), edge, is_before);
        return it != edges.end() && are_same(*it, edge) ? &*it : nullptr;
    }

    // Moves the last dependent to the freed index.
    void drop(const Edge& unused) {
        auto& dependents = unused.dependency->dependents_;
        Dependent* const last = dependents.back();
        dependents.pop_back();
        if (unused.position < dependents.size()) {
            dependents[unused.position] = last;
            find(last->dependencies().edges(), unused)->position = unused.position;
        }
        if (!dependents.empty()) return;
        auto& known = known_[static_cast<std::size_t>(unused.kind)];
        known.erase(NameView{unused.dependency->ns(), unused.dependency->name()});
    }

    using Known = SplitSet<std::unique_ptr<Dependency>, KeyHash, KeyEqual>;
    std::array<Known, kind_count> known_;
    std::uint64_t now_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
