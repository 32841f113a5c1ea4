#pragma once

#include "sim/store/object.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// The value of shardSelector (KEP-5866): ranges of a hash of one field of the metadata.
class ShardSelector {
 public:
    /// Parses `shardRange(object.metadata.uid, '0x…', '0x…')` joined by `||`, with spaces anywhere
    /// and quotes of either kind. Further CEL syntax, such as parentheses, is not supported.
    /// \throws StatusError 500, as from a real server for an unreadable selector
    static ShardSelector parse(std::string_view);

    bool matches(const Object&) const;
    /// The spelling in metadata.shardInfo: single spaces, in the original order.
    std::string canonical() const;

 private:
    enum class Field { uid, ns };
    struct Range {
        std::uint64_t first = 0;
        std::uint64_t last = 0;  ///< inclusive, since the exclusive bound may be 2^64
    };

    Field field_ = Field::uid;
    std::vector<Range> ranges_;

    friend class ShardSelectorParser;
};

}  // namespace k8s_sd::inline v0::sim
