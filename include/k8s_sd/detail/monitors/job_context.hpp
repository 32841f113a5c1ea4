#pragma once

#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/detail/monitors/references.hpp"
#include "k8s_sd/detail/monitors/versions.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/monitors/monitor_owner.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Bounds the regular expressions in the rules of one monitor, or of one owner.
inline RelabelLimits monitor_pattern_limits() {
    RelabelLimits limits;
    limits.instructions = std::size_t{4} << 20;
    return limits;
}

class GeneratedRules;

/// The surroundings of a monitor while its jobs are made.
struct JobContext {
    const MonitorOwner& owner;
    const MonitorOptions& options;
    References& references;
    Faults& faults;
    PatternBudget& patterns;                ///< for the regular expressions of all rules
    GeneratedRules* known_rules = nullptr;  ///< null: rules are not shared
    MonitorKind kind = MonitorKind::service_monitor;
    std::string object_namespace{};
    std::string name{};

    /// Whether keys of that version of Prometheus are generated.
    bool generates(std::uint64_t major, std::uint64_t minor) const noexcept {
        return options.without_version_check || at_least(owner.version, major, minor);
    }
    /// A reference to a key of a Secret or ConfigMap beside the monitor.
    MonitorReference reference(MonitorReference::Kind of, const ObjectView& selector) const {
        return {of, object_namespace, std::string(selector.text("name")),
                std::string(selector.text("key"))};
    }
};

/// A section of a generated job.
using JobObject = boost::json::object;

inline void put(JobObject& object, std::string_view key, boost::json::value value) {
    // Boost.JSON copies keys with memcpy(), which must not get a null pointer.
    object.insert_or_assign(key.empty() ? std::string_view("") : key, std::move(value));
}
inline void put_text(JobObject& object, std::string_view key, std::string_view text) {
    put(object, key, boost::json::string(text));
}
/// Unless the text is empty.
inline void put_nonempty(JobObject& object, std::string_view key, std::string_view text) {
    if (!text.empty()) put_text(object, key, text);
}
inline void put_texts(JobObject& object, std::string_view key,
                      const std::vector<std::string>& texts) {
    put(object, key, boost::json::array(texts.begin(), texts.end()));
}

}  // namespace k8s_sd::inline v0::detail
