#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// The target list format of file_sd and http_sd.
/// Source: Prometheus' documentation of file_sd_config and http_sd_config.
namespace k8s_sd::inline v0::detail {

/// Limits of a list. The bytes are those of all texts, with anchors expanded.
struct TargetListLimits {
    std::size_t targets = 0;  ///< maximum number of targets, and of groups
    std::size_t bytes = 0;
};

/// A list exceeds its limits.
struct K8S_SD_EXPORT TargetListTooLong : ConfigError {
    using ConfigError::ConfigError;
};

using TargetLists = std::vector<StaticConfig>;

/// Refuses the whole list if it violates the dialect's rules for http_sd responses, or for JSON
/// files.
/// \throws TargetListTooLong where "the list"
/// \throws ConfigError where "group 3" or "the list"; quotes no values
TargetLists parse_http_list(std::string_view json, const DialectRules&, const TargetListLimits&);
/// \throws TargetListTooLong where "the list"
/// \throws ConfigError where "group 3" or "the list", or "path:line: …"
TargetLists parse_file_list(std::string_view text, const std::string& path, const DialectRules&,
                            const TargetListLimits&);

/// If a group has the label `__address__`, its value becomes the address of the group's targets.
K8S_SD_EXPORT void prefer_address_label(StaticConfig&);

/// The origin of a list's groups: "<place>:0" is the source of the first one.
struct ListOrigin {
    std::string place;  ///< empty: the sources are numbers
    std::string label;  ///< such as `__meta_url`; empty: none
    std::string value;  ///< of this label; overrides the list's own
};

/// Skips groups without targets.
std::vector<TargetGroupPtr> make_groups(TargetLists, const ListOrigin&, TargetGroupMaker&);

/// For `static_configs`.
std::vector<TargetGroupPtr> static_groups(const TargetLists&);

}  // namespace k8s_sd::inline v0::detail
