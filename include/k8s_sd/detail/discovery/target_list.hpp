#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_group_maker.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// The format in which file_sd and http_sd list targets.
/// Source: Prometheus' documentation of file_sd_config and http_sd_config.
namespace k8s_sd::inline v0::detail {

/// How far a list may go. What its texts say, anchors followed, counts as bytes.
struct TargetListLimits {
    std::size_t targets = 0;  ///< also of groups
    std::size_t bytes = 0;
};

/// A list goes too far; it may be good with other limits.
struct K8S_SD_EXPORT TargetListTooLong : ConfigError {
    using ConfigError::ConfigError;
};

using TargetLists = std::vector<StaticConfig>;

/// What does not follow a dialect's rules for the answers of http_sd, or for files that are JSON,
/// is refused as a whole.
/// \throws TargetListTooLong where "the list"
/// \throws ConfigError where "group 3" or "the list"; quotes no values
TargetLists parse_http_list(std::string_view json, const DialectRules&, const TargetListLimits&);
/// \throws TargetListTooLong where "the list"
/// \throws ConfigError where "group 3" or "the list", or "path:line: …"
TargetLists parse_file_list(std::string_view text, const std::string& path, const DialectRules&,
                            const TargetListLimits&);

/// Where a group has the label `__address__`, that is the address of its targets.
K8S_SD_EXPORT void prefer_address_label(StaticConfig&);

/// Where the groups of a list come from: "<place>:0" is the source of the first.
struct ListOrigin {
    std::string place;  ///< empty: the sources are numbers
    std::string label;  ///< such as `__meta_url`; empty: none
    std::string value;  ///< of this label, which wins over the list's own
};

/// Groups without targets are left out.
std::vector<TargetGroupPtr> make_groups(TargetLists, const ListOrigin&, TargetGroupMaker&);

/// Of `static_configs`.
std::vector<TargetGroupPtr> static_groups(const TargetLists&);

}  // namespace k8s_sd::inline v0::detail
