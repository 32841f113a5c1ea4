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

namespace k8s_sd_program {

/// A target in a list, with the keys for dividing the list.
struct ListedTarget {
    /// A JSON object, then a JSON string: the labels and the target. Sorted by these texts, a list
    /// has the same bytes whatever its history, and targets with equal labels are adjacent.
    std::string text;
    std::size_t labels_size = 0;  ///< of the object
    /// Determines the shard of the target. nullopt: every shard.
    std::optional<std::uint64_t> share_key{};
    std::string node{};        ///< empty: none, or unknown
    std::size_t left_out = 0;  ///< labels, see is_listed_name()

    std::string_view labels() const noexcept {
        return std::string_view(text).substr(0, labels_size);
    }
    std::string_view target() const noexcept { return std::string_view(text).substr(labels_size); }
    auto operator<=>(const ListedTarget&) const = default;
};

/// A name and its value.
using LabelView = std::pair<std::string_view, std::string_view>;
/// The labels of one target of a group, sorted by name, without empty values; its own labels
/// override those of the group. The views refer to the group.
std::vector<LabelView> discovered_labels(const k8s_sd::TargetGroup&, std::size_t index);
/// The node of a target; empty: unknown.
/// \param labels  the result of discovered_labels()
std::string_view node_of(std::span<const LabelView> labels);
/// The key of the target's shard in the job; nullopt: every shard has it.
std::optional<std::uint64_t> share_key_of(const k8s_sd::ScrapeTarget&, const std::string& job);

/// Whether lists of the job include labels of this name: a reader limited to legacy names would
/// refuse the whole list because of another name.
bool is_listed_name(const k8s_sd::ScrapeConfig&, std::string_view name);

/// The targets of a group as discovered.
/// \param builder  of the job: the shard of a target is determined after relabelling
/// \param meta     only these `__meta_*` labels; empty: all
std::vector<ListedTarget> discovered_targets(const k8s_sd::TargetGroupPtr&,
                                             k8s_sd::TargetBuilder& builder, const MetaNames& meta);

/// A target in the format for collectors. Its share key is that of ConsistentHashing.
ListedTarget collector_target(const k8s_sd::TargetGroup&, std::size_t index);

/// The targets of a group after relabelling.
/// \param builder  with the rules for the group
/// \param config   of the job; readers have it, too
/// \param content  with the form `relabelled` or `urls`
std::vector<ListedTarget> scraped_targets(const k8s_sd::TargetGroupPtr&,
                                          k8s_sd::TargetBuilder& builder,
                                          const k8s_sd::ScrapeConfig& config,
                                          const ListContent& content);

}  // namespace k8s_sd_program
