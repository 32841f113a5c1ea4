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
/// \param first_size  size of the struct in the first version of the interface
template <class Options>
Options read_options(const Options* given, const char* name, std::size_t first_size) {
    const auto refuse = [&](const char* problem) {
        throw Failure(K8S_SD_INVALID_ARGUMENT, std::string(name) + ": " + problem);
    };
    if (!given) refuse("must not be NULL");
    const std::size_t size = given->struct_size;
    if (size < first_size || size > max_struct_size) {
        refuse("struct_size is wrong; initialize the struct with K8S_SD_INIT");
    }
    const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
    const std::size_t known = std::min(size, sizeof(Options));
    if (!std::all_of(bytes + known, bytes + size, [](auto byte) { return byte == 0; })) {
        refuse("has members unknown to this version of the library; it needs a newer one");
    }
    Options options{};
    std::memcpy(&options, bytes, known);
    return options;
}

/// The sizes of the first version: the offset of what a later one has added, if anything.
inline k8s_sd_options read(const k8s_sd_options* given) {
    return read_options(given, "options", sizeof(k8s_sd_options));
}
inline k8s_sd_config read(const k8s_sd_config* given) {
    const auto config = read_options(given, "config", sizeof(k8s_sd_config));
    if (config.reserved != 0) throw Failure(K8S_SD_INVALID_ARGUMENT, "reserved: must be zero");
    return config;
}
inline k8s_sd_query read(const k8s_sd_query* given) {
    const auto query = read_options(given, "query", sizeof(k8s_sd_query));
    if (query.reserved != 0) throw Failure(K8S_SD_INVALID_ARGUMENT, "reserved: must be zero");
    return query;
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
