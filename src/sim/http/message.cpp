#include "k8s_sd/sim/message.hpp"

#include <boost/beast/core/string.hpp>

namespace k8s_sd::inline v0::sim {

std::optional<std::string_view> Request::header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
        if (boost::beast::iequals(key, name)) return value;
    }
    return std::nullopt;
}

std::string_view Request::param(std::string_view name) const {
    const auto found = query.find(std::string(name));
    return found == query.end() ? std::string_view() : std::string_view(found->second);
}

bool Request::flag(std::string_view name) const {
    const auto found = query.find(std::string(name));
    if (found == query.end()) return false;
    const std::string& text = found->second;
    return text != "0" && text != "false" && text != "False" && text != "FALSE" && text != "f" &&
           text != "F";
}

}  // namespace k8s_sd::inline v0::sim
