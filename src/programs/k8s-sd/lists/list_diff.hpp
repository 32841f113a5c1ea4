#pragma once

#include <string>
#include <string_view>

namespace k8s_sd_program {

/// The difference of two lists: a reader first removes targets, then adds targets. Both members are
/// lists themselves, without line breaks.
struct ListDiff {
    std::string removed = "[]";
    std::string added = "[]";
};

/// \param from, to  the bytes of two bodies in the format of Listing
ListDiff diff_of(std::string_view from, std::string_view to);

}  // namespace k8s_sd_program
