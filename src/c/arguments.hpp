#pragma once

#include "failure.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace k8s_sd_c {

/// A host compiled with a later version may pass a longer struct: as long as it uses nothing of the
/// rest, this library does as well.
constexpr std::size_t max_struct_size = 4096;

/// A copy of a struct of options; members beyond `struct_size` have their defaults.
template <class Options>
Options read_options(const Options* given, const char* name) {
    const auto refuse = [&](const char* problem) {
        throw Failure(K8S_SD_INVALID_ARGUMENT, std::string(name) + ": " + problem);
    };
    if (!given) refuse("must not be NULL");
    const std::size_t size = given->struct_size;
    if (size < sizeof(Options) || size > max_struct_size) {
        refuse("struct_size is wrong; initialize the struct with K8S_SD_INIT");
    }
    const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
    if (!std::all_of(bytes + sizeof(Options), bytes + size, [](auto byte) { return byte == 0; })) {
        refuse("has members unknown to this version of the library; it needs a newer one");
    }
    return *given;
}

/// An optional text.
inline std::string_view text_or(const char* given, std::string_view otherwise = {}) {
    return given ? std::string_view(given) : otherwise;
}

/// A required text.
inline std::string required(const char* given, const char* name) {
    if (!given || !*given) {
        throw Failure(K8S_SD_INVALID_ARGUMENT, std::string(name) + ": must not be empty");
    }
    return given;
}

/// A view for the host. An empty text is not NULL.
inline k8s_sd_string view(std::string_view text) noexcept {
    return {text.data() ? text.data() : "", text.size()};
}

}  // namespace k8s_sd_c
