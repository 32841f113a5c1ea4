#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The text in lower case, such as the singular name of the kind "ReplicaSet".
inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

}  // namespace k8s_sd::inline v0::sim
