#pragma once

#include "k8s_sd/role.hpp"

namespace k8s_sd::inline v0::detail {

/// How the targets of a role are made. Each role has a specialization in a file of its own,
/// roles/<enumerator>.hpp, which roles/all.hpp finds through K8S_SD_ROLES:
///
/// - `MainObject`: what is kept of the objects that have the targets, those of main_kind()
/// - `static constexpr std::string_view source_prefix`: the start of the groups' names
/// - `static constexpr LabelRow labels[]`: the rows of docs/guide/labels.md for the labels that the
///   objects have by themselves
/// - `static void add_needed_kinds(const AttachMetadata&, std::vector<Kind>&)`: the kinds that the
///   targets need besides the main kind
/// - `static void generate(const MainObject&, GeneratorContext&)`: adds the labels of the group,
///   then its targets with add_targets(), or with add_part() for each endpoint that has some
template <Role role>
struct RoleTraits;

}  // namespace k8s_sd::inline v0::detail
