#pragma once

#include <boost/json/object.hpp>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// A string member; empty if missing or of another type.
inline std::string_view json_text(const boost::json::object& object, std::string_view name) {
    const boost::json::value* value = object.if_contains({name.data(), name.size()});
    const boost::json::string* text = value ? value->if_string() : nullptr;
    return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

}  // namespace k8s_sd::inline v0::detail
