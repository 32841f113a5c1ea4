#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <stdexcept>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// A member of object type, created if missing.
inline boost::json::object& object_in(boost::json::object& parent, std::string_view name) {
    boost::json::value& value = parent[name];
    if (!value.is_object()) value.emplace_object();
    return value.get_object();
}

/// A member of array type, created if missing.
inline boost::json::array& array_in(boost::json::object& parent, std::string_view name) {
    boost::json::value& value = parent[name];
    if (!value.is_array()) value.emplace_array();
    return value.get_array();
}

/// The last object of a list. \throws std::logic_error if there is none
inline boost::json::object& last_in(boost::json::object& parent, std::string_view list,
                                    const char* missing) {
    boost::json::array& items = array_in(parent, list);
    if (items.empty()) throw std::logic_error(missing);
    return items.back().as_object();
}

}  // namespace k8s_sd::inline v0::sim
