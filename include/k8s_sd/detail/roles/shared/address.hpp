#pragma once

#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/detail/labels/label_names.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// "host:port"; an IPv6 literal is put in brackets.
inline std::string join_host_port(std::string_view host, std::int64_t port) {
    const bool brackets = host.find(':') != std::string_view::npos;
    std::string joined;
    joined.reserve(host.size() + 8);
    if (brackets) joined += '[';
    joined += host;
    joined += brackets ? "]:" : ":";
    return joined += std::to_string(port);
}

inline LabelBlockPtr address_label(LabelFactory& factory, std::string_view address) {
    return factory.block().add(address_name, address).make();
}

}  // namespace k8s_sd::inline v0::detail
