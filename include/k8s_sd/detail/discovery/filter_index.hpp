#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/labels/label_shape.hpp"
#include "k8s_sd/target_filter.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Conditions with the same labels and separator.
struct FilterShape;

/// The owner of a filter in at most one FilterIndex.
struct FilterOwner {
    TargetFilter filter{};  ///< constant while it is in an index

    // Of the index.
    bool is_indexed = false;
    FilterShape* shape = nullptr;               ///< null: the filter has no conditions
    const LabelCondition* condition = nullptr;  ///< the indexed one
};

struct FilterShape {
    using Key = std::pair<std::vector<std::string>, std::string>;

    const Key* key = nullptr;      ///< the labels and the separator
    std::string without_labels{};  ///< the joined value of a target without any of the labels
    /// By joined value.
    boost::unordered_flat_map<std::string, std::vector<FilterOwner*>, SeededHash> owners{};
    std::uint64_t last_use = 0;  ///< number of the last evaluation
};

/// Finds the filters that pass a target group, without evaluating all of them. Each filter is
/// indexed by one of its conditions. docs/internals/target-filters.md explains it. Not thread-safe.
class K8S_SD_EXPORT FilterIndex {
 public:
    using Owners = std::vector<FilterOwner*>;

    /// Strong guarantee.
    /// \param owner  must stay at its address until it is removed
    void add(FilterOwner& owner);
    /// Does nothing if the owner is not in the index.
    void remove(FilterOwner& owner) noexcept;
    std::size_t size() const noexcept { return size_; }
    /// The owners of the filters that pass any target of the group; each once, in no particular
    /// order. Equal to passes_any() of each filter.
    Owners passing(const TargetGroup&);

 private:
    struct Hash : SeededHash {
        using is_transparent = void;
    };
    template <class Value>
    using ByText = boost::unordered_flat_map<std::string, Value, Hash, std::equal_to<>>;

    using Shape = FilterShape;
    /// A label of a target or group that some shape has.
    struct Found {
        std::string_view name;
        std::string_view value;
        const std::vector<Shape*>* shapes;
    };
    using FoundLabels = std::vector<Found>;
    /// Shapes of blocks without such labels: the targets of a group have mostly the same shapes.
    using OtherShapes = std::vector<const LabelShape*>;

    Shape& shape_of(const LabelCondition&);
    void put(FilterOwner&, Shape&);
    void take_out(FilterOwner&) noexcept;
    void release(Shape&) noexcept;
    std::size_t cost(const LabelCondition&) const;
    bool find(const Labels&, OtherShapes&, FoundLabels&) const;
    bool find_all(const Labels&, FoundLabels&) const;
    void look_up(const FoundLabels& target, const FoundLabels& group, Owners& candidates);
    void look_up(Shape&, const FoundLabels& target, const FoundLabels& group, Owners& candidates);
    Owners all() const;

    std::size_t size_ = 0;
    std::map<Shape::Key, Shape> shapes_;
    ByText<std::vector<Shape*>> shapes_of_label_;
    /// The labels in shapes, by size modulo 64.
    std::array<std::size_t, 64> labels_of_size_{};
    std::set<Shape*> without_labels_;  ///< those with a value for a target without their labels
    Owners all_pass_;                  ///< filters without conditions
    std::uint64_t uses_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
