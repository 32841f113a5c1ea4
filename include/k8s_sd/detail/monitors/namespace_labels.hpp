#pragma once

#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The labels of an object.
MonitorLabels labels_of(const api::StringMap&);

/// The labels of all namespaces, for the selectors of an owner.
class NamespaceLabels {
 public:
    using Names = std::set<std::string, std::less<>>;

    /// \returns the namespaces whose labels may have changed
    Names apply(const ObjectDiff<api::Namespace>&);
    /// Namespaces are not watched any more.
    void forget() noexcept;
    /// Whether namespaces have been listed.
    bool are_listed() const noexcept { return are_listed_; }
    /// \returns null for a namespace that is not there
    const MonitorLabels* find(std::string_view ns) const;

 private:
    std::map<std::string, MonitorLabels, std::less<>> labels_;  ///< by namespace
    bool are_listed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
