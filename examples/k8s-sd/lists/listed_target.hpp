#pragma once

#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/target_group.hpp"
#include "lists/list_content.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// What a list says of one target, and what decides in which parts of the list it is.
struct ListedTarget {
    /// A JSON object, then a JSON string: the labels and the target. In the order of these texts a
    /// list has the same bytes whatever its history, and targets with equal labels are neighbours.
    std::string text;
    std::size_t labels_size = 0;  ///< of the object
    /// Decides which shard has it. None: every shard.
    std::optional<std::uint64_t> share_key{};
    std::string node{};        ///< on which it runs; empty: on none that is known
    std::size_t left_out = 0;  ///< labels, see is_listed_name()

    std::string_view labels() const noexcept {
        return std::string_view(text).substr(0, labels_size);
    }
    std::string_view target() const noexcept { return std::string_view(text).substr(labels_size); }
    auto operator<=>(const ListedTarget&) const = default;
};

/// A name and its value.
using LabelView = std::pair<std::string_view, std::string_view>;
/// The labels of one target of a group, sorted by name, none without a value; its own before those
/// of the group. The views are into the group.
std::vector<LabelView> discovered_labels(const k8s_sd::TargetGroup&, std::size_t index);
/// The node that a target runs on; empty: none that is known.
/// \param labels  as discovered_labels() gives them
std::string_view node_of(std::span<const LabelView> labels);
/// What decides which shard has a target of the job; nullopt: every shard has it.
std::optional<std::uint64_t> share_key_of(const k8s_sd::ScrapeTarget&, const std::string& job);

/// Whether lists of the job have labels of this name: a reader that knows legacy names only refuses
/// a whole list because of another one.
bool is_listed_name(const k8s_sd::ScrapeConfig&, std::string_view name);

/// The targets of a group as they were discovered.
/// \param builder  of the job: a shard has what it will scrape after relabelling
/// \param meta     only these `__meta_*` labels; empty: all
std::vector<ListedTarget> discovered_targets(const k8s_sd::TargetGroupPtr&,
                                             k8s_sd::TargetBuilder& builder, const MetaNames& meta);

/// A target as collectors get it. Its share key is that of ConsistentHashing.
ListedTarget collector_target(const k8s_sd::TargetGroup&, std::size_t index);

/// The targets that relabelling makes of a group.
/// \param builder  with the rules for the group
/// \param config   of the job, which readers have, too
/// \param content  of the form `relabelled` or `urls`
std::vector<ListedTarget> scraped_targets(const k8s_sd::TargetGroupPtr&,
                                          k8s_sd::TargetBuilder& builder,
                                          const k8s_sd::ScrapeConfig& config,
                                          const ListContent& content);

}  // namespace bridge
