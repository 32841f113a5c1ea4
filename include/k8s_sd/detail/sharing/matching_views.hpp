#pragma once

#include "k8s_sd/detail/sharing/view_set.hpp"
#include "k8s_sd/objects/object.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace k8s_sd::inline v0::detail {

/// Maps each object of a kind to the set of its matching views (`ViewSet`), exact for any number
/// of sets. An object stores the number of its set; once all numbers are in use, further objects
/// are stored in a separate map with their own set. Unused numbers are freed on demand, so frequent
/// changes cannot exhaust them.
class MatchingViews {
 public:
    /// Calls the function for each object that has() may receive later.
    using ForEachObject = std::function<void(const std::function<void(const ObjectPtr&)>&)>;

    explicit MatchingViews(ForEachObject for_each) : for_each_(std::move(for_each)) {}

    /// \returns the number of the set; ObjectTag::apart if all are in use
    std::uint16_t id_of(const ViewSet&);
    /// Stores the set of an object with the number ObjectTag::apart.
    void keep_apart(const ObjectPtr&, const ViewSet&);
    bool has(const Object&, std::size_t number) const noexcept;
    /// Whether most numbers are in use even after unused ones were freed.
    bool crowded() const noexcept { return crowded_; }
    std::size_t kept_apart() const noexcept { return apart_.size(); }
    void clear();

 private:
    /// Freeing numbers scans all objects: scan once per this many new sets.
    static constexpr std::size_t sets_per_scan = ViewSetTable::capacity / 8;

    void free_unused();

    const ForEachObject for_each_;
    ViewSetTable table_;
    boost::unordered_flat_map<const Object*, std::pair<ObjectPtr, ViewSet>> apart_;
    std::size_t misses_ = 0;  ///< since the last scan that freed many numbers
    bool crowded_ = false;
};

}  // namespace k8s_sd::inline v0::detail
