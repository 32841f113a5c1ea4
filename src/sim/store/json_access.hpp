#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The value at a path such as "spec.nodeName"; null if there is none.
inline const boost::json::value* value_at(const boost::json::object& root, std::string_view path) {
    const boost::json::object* object = &root;
    for (;;) {
        const std::size_t dot = path.find('.');
        const boost::json::value* value = object->if_contains(path.substr(0, dot));
        if (!value || dot == path.npos) return value;
        object = value->if_object();
        if (!object) return nullptr;
        path.remove_prefix(dot + 1);
    }
}

/// The string at a path; "" if there is none.
inline std::string_view text_at(const boost::json::object& root, std::string_view path) {
    const boost::json::value* value = value_at(root, path);
    return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

}  // namespace k8s_sd::inline v0::sim
