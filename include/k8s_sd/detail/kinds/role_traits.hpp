#pragma once

#include "k8s_sd/role.hpp"

namespace k8s_sd::inline v0::detail {

/// Traits of a role's target generation. Each role has a specialization in the file of its main
/// kind, kinds/<kind>.hpp:
///
/// - `MainObject`: the cached form of the objects of main_kind()
/// - `static constexpr std::string_view source_prefix`: the start of the groups' names
/// - `static constexpr LabelRow labels[]`: rows of docs/guide/labels.md for the objects' own labels
/// - `static void add_needed_kinds(const AttachMetadata&, std::vector<Kind>&)`: further kinds
///   required by the targets
/// - `static void generate(const MainObject&, GeneratorContext&)`: adds the labels of the group,
///   then its targets with add_targets(), or with add_part() for each endpoint with targets
template <Role role>
struct RoleTraits;

}  // namespace k8s_sd::inline v0::detail
