#pragma once

#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "support/decoding.hpp"
#include "support/dialects.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// Labels for expectations: "~" at the start of a name stands for "__meta_kubernetes_".
inline LabelMap labels(std::initializer_list<std::pair<std::string, std::string>> list) {
    LabelMap map;
    for (const auto& [name, value] : list) {
        map.emplace(name[0] == '~' ? "__meta_kubernetes_" + name.substr(1) : name, value);
    }
    return map;
}
inline LabelMap operator+(LabelMap a, const LabelMap& b) {
    for (const auto& [name, value] : b) a.insert_or_assign(name, value);
    return a;
}
/// The `~label_x` and `~labelpresent_x` (or annotation) of an object, e.g. family("pod_label", ..).
inline LabelMap family(const std::string& word,
                       std::initializer_list<std::pair<std::string, std::string>> list) {
    LabelMap map;
    for (const auto& [key, value] : list) {
        map.emplace("__meta_kubernetes_" + word + "_" + key, value);
        map.emplace("__meta_kubernetes_" + word + "present_" + key, "true");
    }
    return map;
}
inline std::vector<LabelMap> sorted(std::vector<LabelMap> maps) {
    std::sort(maps.begin(), maps.end());
    return maps;
}

/// Some objects, and the targets generated from them.
class World : private detail::Lookup {
 public:
    using Key = std::tuple<Kind, std::string, std::string>;

    explicit World(LabelDialect dialect = LabelDialect::prometheus, AttachMetadata attach = {},
                   bool by_namespace = false);
    /// Of Prometheus' dialect.
    explicit World(PrometheusVersion version, AttachMetadata attach = {});
    virtual ~World();

    World& add(Kind kind, std::string_view json);
    World& remove(Kind kind, const std::string& ns, const std::string& name) {
        objects_.erase({kind, ns, name});
        return *this;
    }
    void set_max_targets(std::size_t n) { maker_.options.max_targets = n; }
    void divide(const Division& division) { maker_.options.division = division; }
    const Object& object(Kind kind, const std::string& ns, const std::string& name) const {
        return *objects_.at({kind, ns, name});
    }
    /// Null if there is no target.
    TargetGroupPtr group(Role role, const std::string& ns, const std::string& name);
    /// Whether the last generation exceeded a limit.
    bool overfull() const noexcept { return builder_.overfull(); }
    /// Group and target labels together, without empty values, in the order of the group.
    std::vector<LabelMap> targets(Role role, const std::string& ns, const std::string& name);
    std::vector<std::string> addresses(Role role, const std::string& ns, const std::string& name);
    /// The look-ups of the last generation, successful or not.
    const std::set<Key>& asked() const noexcept { return asked_; }
    bool asked(Kind kind, const std::string& ns, const std::string& name) const {
        return asked_.contains({kind, ns, name});
    }

 private:
    const Object* find(Kind kind, std::string_view ns, std::string_view name) override;

    detail::ObjectMaker maker_;
    detail::GroupBuilder builder_;
    std::map<Key, ObjectPtr> objects_;
    std::set<Key> asked_;
};

/// The value of a label (with "~"); "" if it is absent, which is equivalent.
inline std::string value(const LabelMap& target, const std::string& name) {
    const auto it = target.find(name[0] == '~' ? "__meta_kubernetes_" + name.substr(1) : name);
    return it == target.end() ? "" : it->second;
}
/// Whether a label with this prefix (with "~") exists.
inline bool has_family(const LabelMap& target, const std::string& start) {
    const std::string full = "__meta_kubernetes_" + start.substr(1);
    const auto it = target.lower_bound(full);
    return it != target.end() && it->first.starts_with(full);
}

}  // namespace k8s_sd::test
