#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// What a reader of a list takes out, then puts in, to have another one. Both are lists themselves,
/// without line breaks.
struct ListDiff {
    std::string removed = "[]";
    std::string added = "[]";
};

/// \param from, to  the bytes of two bodies, as Listing joins them
ListDiff diff_of(std::string_view from, std::string_view to);

}  // namespace bridge
