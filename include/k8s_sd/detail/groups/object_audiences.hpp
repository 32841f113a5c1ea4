#pragma once

#include "k8s_sd/detail/base/audience.hpp"
#include "k8s_sd/object.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace k8s_sd::inline v0::detail {

/// The audience of each object of a kind, exact for any number of different audiences. An object
/// carries the number of its audience; objects that come when all numbers are in use are kept
/// apart, with an audience of their own. Numbers that no object carries any longer are freed when
/// they are needed, so that objects that change again and again cannot use them up.
class ObjectAudiences {
 public:
    /// Calls the function for each object that may be passed to has() later.
    using ForEachObject = std::function<void(const std::function<void(const ObjectPtr&)>&)>;

    explicit ObjectAudiences(ForEachObject for_each) : for_each_(std::move(for_each)) {}

    /// \returns the number of the audience; ObjectAudience::apart if there is none left
    std::uint16_t id_of(const Audience&);
    /// Of an object with the number ObjectAudience::apart.
    void keep_apart(const ObjectPtr&, const Audience&);
    bool has(const Object&, std::size_t party) const noexcept;
    /// Most numbers are carried by objects, even though unused ones were freed.
    bool crowded() const noexcept { return crowded_; }
    std::size_t kept_apart() const noexcept { return apart_.size(); }
    void clear();

 private:
    /// To free numbers takes a look at all objects: one look for so many new audiences.
    static constexpr std::size_t worth_a_look = AudienceTable::capacity / 8;

    void free_unused();

    const ForEachObject for_each_;
    AudienceTable table_;
    boost::unordered_flat_map<const Object*, std::pair<ObjectPtr, Audience>> apart_;
    std::size_t misses_ = 0;  ///< since many numbers were freed
    bool crowded_ = false;
};

}  // namespace k8s_sd::inline v0::detail
