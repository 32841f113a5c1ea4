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
    /// Reads `shardRange(object.metadata.uid, '0x…', '0x…')` joined by `||`, with spaces anywhere
    /// and quotes of either kind. CEL's further freedoms, such as parentheses, are not known.
    /// \throws StatusError 500, which is what a real server answers to a selector it cannot read
    static ShardSelector parse(std::string_view);

    bool matches(const Object&) const;
    /// As metadata.shardInfo has it: single spaces, the order as it was.
    std::string canonical() const;

 private:
    enum class Field { uid, ns };
    struct Range {
        std::uint64_t first = 0;
        std::uint64_t last = 0;  ///< the last that is in it: the end itself may be 2^64
    };

    Field field_ = Field::uid;
    std::vector<Range> ranges_;

    friend class ShardSelectorParser;
};

}  // namespace k8s_sd::inline v0::sim
