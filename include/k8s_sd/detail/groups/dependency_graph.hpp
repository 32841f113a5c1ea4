#pragma once

#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/kind.hpp"

#include <boost/container/small_vector.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
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
    /// The lookups of a group before they are set.
    using Recorded = boost::container::small_vector<Dependency*, 1>;
    /// The lookups of a group in order: first of the group as a whole, then of each part.
    struct PartLookups {
        std::vector<Dependency*> asked;
        std::vector<std::uint32_t> begins;  // index of each part's first lookup
        std::uint64_t as_of = 0;            // DependencyGraph::now() at the time of the lookups
    };
    /// The lookups of a group, each object once. Usually one: the node of a pod. It is stored here,
    /// because each pod has such a group; several, and those by parts, are in an allocation.
    class Dependencies {
     public:
        Dependencies() noexcept : only_(nullptr) {}
        Dependencies(Dependencies&& other) noexcept : Dependencies() { take(other); }
        Dependencies& operator=(Dependencies&& other) noexcept {
            if (this == &other) return *this;
            if (in_list_) delete list_;
            take(other);
            return *this;
        }
        ~Dependencies() {
            if (in_list_) delete list_;
        }

        std::size_t size() const noexcept {
            if (in_list_) return list_->edges.size();
            return only_ ? 1 : 0;
        }
        /// The lookups by parts; null: none.
        PartLookups* of_parts() const noexcept {
            return in_list_ ? list_->of_parts.get() : nullptr;
        }
        void set_of_parts(std::unique_ptr<PartLookups> lookups) {
            use_list().of_parts = std::move(lookups);
        }
        void drop_of_parts() noexcept {
            if (in_list_) list_->of_parts.reset();
        }

     private:
        friend class DependencyGraph;
        struct Edge {
            Dependency* dependency;
            std::uint32_t position;  // index of the group in the object's dependents
        };
        struct List {
            std::vector<Edge> edges;  // sorted
            std::unique_ptr<PartLookups> of_parts;
        };

        /// \param asked  sorted, without duplicates. The positions are not set yet.
        explicit Dependencies(const Recorded& asked) : Dependencies() {
            if (asked.size() == 1) only_ = asked.front();
            if (asked.size() <= 1) return;
            List& list = use_list();
            list.edges.reserve(asked.size());
            for (Dependency* const dependency : asked) list.edges.push_back({dependency, 0});
        }
        bool consist_of(const Recorded& asked) const noexcept {
            if (!in_list_) return asked.size() == size() && (asked.empty() || asked[0] == only_);
            const auto is_same = [](const Edge& edge, const Dependency* dependency) {
                return edge.dependency == dependency;
            };
            const std::vector<Edge>& edges = list_->edges;
            return std::equal(edges.begin(), edges.end(), asked.begin(), asked.end(), is_same);
        }
        /// Calls `visit(Dependency&, std::uint32_t& position)` for each looked-up object.
        template <class Visit>
        void for_each(Visit visit) {
            if (!in_list_) {
                if (only_) visit(*only_, position_);
                return;
            }
            for (Edge& edge : list_->edges) visit(*edge.dependency, edge.position);
        }
        /// The index of the group in the object's dependents. Null: it is not looked up.
        std::uint32_t* position_in(const Dependency& object) noexcept {
            if (!in_list_) return only_ == &object ? &position_ : nullptr;
            const auto is_before = [](const Edge& edge, const Dependency* dependency) {
                return std::less<>{}(edge.dependency, dependency);
            };
            auto& edges = list_->edges;
            const auto it = std::lower_bound(edges.begin(), edges.end(), &object, is_before);
            return it != edges.end() && it->dependency == &object ? &it->position : nullptr;
        }
        List& use_list() {
            if (in_list_) return *list_;
            auto list = std::make_unique<List>();
            if (only_) list->edges.push_back({only_, position_});
            list_ = list.release();
            in_list_ = true;
            return *list_;
        }
        void take(Dependencies& other) noexcept {
            in_list_ = std::exchange(other.in_list_, false);
            if (in_list_) {
                list_ = other.list_;
            } else {
                only_ = other.only_;
            }
            position_ = other.position_;
            other.only_ = nullptr;
        }

        union {
            Dependency* only_;  // null: none
            List* list_;
        };
        std::uint32_t position_ = 0;  // of the only one
        bool in_list_ = false;
    };

    /// Adds an object to `asked`. Valid until the next set_dependencies().
    void record(Kind kind, std::string_view ns, std::string_view name, Recorded& asked) {
        auto& known = known_[static_cast<std::size_t>(kind)];
        const auto* found = known.find(NameView{ns, name});
        if (!found) found = &known.insert(Dependency::make(kind, ns, name));
        asked.push_back(found->get());
    }

    /// Replaces the dependencies of `dependent` with `asked`. Duplicates in `asked` are removed.
    /// The cost does not depend on the number of other dependents.
    void set_dependencies(Dependent& dependent, Recorded asked) {
        Dependencies& known = dependent.dependencies();
        std::sort(asked.begin(), asked.end(), std::less<>{});
        asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
        if (known.consist_of(asked)) return;
        Dependencies now(asked);
        add_to_new(now, known, dependent);
        known.for_each([&](Dependency& object, std::uint32_t position) {
            if (!now.position_in(object)) drop(object, position);
        });
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
    // Adds the dependent to those of its new dependencies: all, or without memory none.
    static void add_to_new(Dependencies& now, Dependencies& known, Dependent& dependent) {
        std::size_t added = 0;
        try {
            now.for_each([&](Dependency& used, std::uint32_t& position) {
                if (const std::uint32_t* same = known.position_in(used)) {
                    position = *same;
                    return;
                }
                position = static_cast<std::uint32_t>(used.dependents_.size());
                used.dependents_.push_back(&dependent);
                ++added;
            });
        } catch (...) {
            now.for_each([&](Dependency& used, std::uint32_t&) {
                if (added == 0 || known.position_in(used)) return;
                used.dependents_.pop_back();
                --added;
            });
            throw;
        }
    }
    // Moves the last dependent to the freed index.
    void drop(Dependency& unused, std::uint32_t position) {
        auto& dependents = unused.dependents_;
        Dependent* const last = dependents.back();
        dependents.pop_back();
        if (position < dependents.size()) {
            dependents[position] = last;
            *last->dependencies().position_in(unused) = position;
        }
        if (!dependents.empty()) return;
        auto& known = known_[static_cast<std::size_t>(unused.kind())];
        known.erase(NameView{unused.ns(), unused.name()});
    }

    using Known = SplitSet<std::unique_ptr<Dependency>, KeyHash, KeyEqual>;
    std::array<Known, kind_count> known_;
    std::uint64_t now_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
