#pragma once

#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/kind.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Which generated groups have asked for which objects: recorded, not declared. A question that
/// found nothing is recorded as well, so that an object which appears later reaches the groups
/// that looked for it.
template <class Dependent>
class DependencyGraph {
 public:
    /// An object that some group asked for, whether it exists or not.
    class Dependency {
     public:
        Dependency(std::string_view ns, std::string_view name) : ns_(ns), name_(name) {}
        std::string_view ns() const noexcept { return ns_; }
        std::string_view name() const noexcept { return name_; }
        const std::vector<Dependent*>& dependents() const noexcept { return dependents_; }

     private:
        friend class DependencyGraph;
        std::string ns_, name_;
        std::vector<Dependent*> dependents_;
    };
    using Dependencies = std::vector<std::pair<Kind, Dependency*>>;

    /// Adds an object to those asked for. Valid until the next set_dependencies().
    void record(Kind kind, std::string_view ns, std::string_view name, Dependencies& asked) {
        auto& known = known_[static_cast<std::size_t>(kind)];
        auto it = known.find(ObjectKey{ns, name});
        if (it == known.end()) it = known.insert(std::make_unique<Dependency>(ns, name)).first;
        asked.emplace_back(kind, it->get());
    }

    /// `dependent` depends on `now` and no longer on `before`. Duplicates in `now` are removed.
    void set_dependencies(Dependent& dependent, Dependencies& before, Dependencies now) {
        std::sort(now.begin(), now.end());
        now.erase(std::unique(now.begin(), now.end()), now.end());
        if (now == before) return;
        for (const auto& used : now) {
            if (!std::binary_search(before.begin(), before.end(), used)) {
                used.second->dependents_.push_back(&dependent);
            }
        }
        for (const auto& unused : before) {
            if (!std::binary_search(now.begin(), now.end(), unused)) drop(dependent, unused);
        }
        before = std::move(now);
        before.shrink_to_fit();
    }

    /// Who asked for an object.
    const std::vector<Dependent*>& dependents(Kind kind, std::string_view ns,
                                              std::string_view name) const {
        static const std::vector<Dependent*> none;
        const auto& known = known_[static_cast<std::size_t>(kind)];
        const auto it = known.find(ObjectKey{ns, name});
        return it == known.end() ? none : (*it)->dependents();
    }
    bool empty() const noexcept {
        return std::all_of(known_.begin(), known_.end(), [](const auto& k) { return k.empty(); });
    }

 private:
    void drop(Dependent& dependent, const std::pair<Kind, Dependency*>& unused) {
        auto& dependents = unused.second->dependents_;
        const auto it = std::find(dependents.begin(), dependents.end(), &dependent);
        *it = dependents.back();
        dependents.pop_back();
        if (!dependents.empty()) return;
        auto& known = known_[static_cast<std::size_t>(unused.first)];
        known.erase(known.find(ObjectKey{unused.second->ns(), unused.second->name()}));
    }

    using Known = boost::unordered_flat_set<std::unique_ptr<Dependency>, KeyHash, KeyEqual>;
    std::array<Known, kind_count> known_;
};

}  // namespace k8s_sd::inline v0::detail
