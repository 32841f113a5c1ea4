#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// "ReplicaSet" in lower case: how the singular name of a kind is written.
inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

}  // namespace k8s_sd::inline v0::sim
